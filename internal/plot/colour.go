package plot

import "fmt"

// Ink is the colour of texts and axes, Faint that of texts of less weight, and Grid that of lines behind all.
const (
	Ink   = "#20242c"
	Faint = "#5c6370"
	Grid  = "#dde0e6"
)

// colours can be told apart with any common colour blindness.
var colours = []string{"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", Ink}

// Colour returns the colour of a line; they come again if there are more lines.
func Colour(i int) string { return colours[i%len(colours)] }

// Stroke returns the attributes of a line, which is dashed when the colours come again.
func Stroke(i int) string {
	s := fmt.Sprintf(" stroke=%q", Colour(i))
	if i >= len(colours) {
		s += ` stroke-dasharray="5 3"`
	}
	return s
}
