package sweep

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/murksim/murksim/internal/plot"
)

// A canvas is a drawing that grows downward.
type canvas struct{ b []byte }

// Sizes in pixels of a picture that is shown as it is.
const (
	plotWidth = 800
	plotEdge  = 14 // around all

	titleSize = 18
	textSize  = 13
)

func (c *canvas) add(format string, args ...any) { c.b = fmt.Appendf(c.b, format, args...) }

// text writes a line whose base begins, ends or has its middle at a point; style is attributes.
func (c *canvas) text(x, y float64, anchor, style, text string) {
	if anchor != "" {
		style = ` text-anchor="` + anchor + `"` + style
	}
	c.add("<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, style, plot.Escape(text))
}

// slanted writes a line that rises to the right and ends at a point.
func (c *canvas) slanted(x, y float64, text string) {
	c.add("<text transform=\"translate(%.1f %.1f) rotate(-45)\" text-anchor=\"end\">%s</text>\n", x, y, plot.Escape(text))
}

// line draws a straight line.
func (c *canvas) line(x1, y1, x2, y2 float64, style string) {
	c.add("<path d=\"M%.1f %.1fL%.1f %.1f\"%s/>\n", x1, y1, x2, y2, style)
}

// shape draws a figure that has a hint, for a pointer that rests on it.
func (c *canvas) shape(figure, hint string) {
	if hint == "" {
		c.add("<%s/>\n", figure)
		return
	}
	name, _, _ := strings.Cut(figure, " ")
	c.add("<%s><title>%s</title></%s>\n", figure, plot.Escape(hint), name)
}

// title writes what all of a picture is about, in as many lines as it takes, and returns where the next line's base lies.
func (c *canvas) title(y float64, text string) float64 {
	style := fmt.Sprintf(" font-size=\"%d\"%s", titleSize, boldText)
	for _, l := range plot.Wrap(text, titleSize*plot.Bold, plotWidth-2*plotEdge) {
		c.text(plotEdge, y, "", style, l)
		y += titleSize * 1.35
	}
	return y
}

// note writes a text of less weight likewise.
func (c *canvas) note(y float64, text string) float64 {
	for _, l := range plot.Wrap(text, textSize, plotWidth-2*plotEdge) {
		c.text(plotEdge, y, "", faintText, l)
		y += textSize * 1.35
	}
	return y
}

// heading writes a short text in bold letters, cut to a width; of a path the end stays.
func (c *canvas) heading(x, y float64, anchor, text string, width float64) {
	c.text(x, y, anchor, boldText, plot.CutPath(text, textSize*plot.Bold, width))
}

const (
	faintText = ` fill="` + plot.Faint + `"`
	boldText  = ` font-weight="600"`
	inkLine   = ` stroke="` + plot.Ink + `"`
	gridLine  = ` stroke="` + plot.Grid + `"`
)

// digits writes a number with commas between thousands.
func digits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
