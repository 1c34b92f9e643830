package words

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Block is a line of a report, and others that explain it as far as there is room. Their texts
// may be those of a file or a program.
type Block struct {
	Label, Head string
	Details     [][]string // cells of a table
}

// NextBlock is the line with a command that tells more, if there is one.
func NextBlock(command string) []Block {
	if command == "" {
		return nil
	}
	return []Block{{Label: "next", Head: command}}
}

// mostDetails is how many details of a block are shown.
const mostDetails = 8

// LayOut writes as many of the blocks as there is room for: first their heads, then the
// details of each in turn.
func LayOut(blocks []Block, room int) (lines []string) {
	more := 0
	if len(blocks) > room {
		more = len(blocks) - room + 1
		blocks = blocks[:room-1]
	}
	wide := 8
	for _, b := range blocks {
		wide = max(wide, min(utf8.RuneCountInString(b.Label), 20))
	}
	shown := make([]int, len(blocks))
	left := room - len(blocks) - min(more, 1)
	for given := true; given && left > 0; {
		given = false
		for i := range blocks {
			if shown[i] < min(len(blocks[i].Details), mostDetails) && left > 0 {
				shown[i], left, given = shown[i]+1, left-1, true
			}
		}
	}
	for i, b := range blocks {
		lines = append(lines, Clean(fmt.Sprintf("  %-*s  %s", wide, b.Label, b.Head)))
		for _, row := range Aligned(b.Details[:shown[i]]) {
			lines = append(lines, Clean(strings.Repeat(" ", wide+6)+row))
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more; --json has them", more))
	}
	return lines
}

// Aligned aligns the cells of rows.
func Aligned(rows [][]string) (lines []string) {
	var wide []int
	for _, row := range rows {
		for k, cell := range row {
			if k == len(wide) {
				wide = append(wide, 0)
			}
			wide[k] = max(wide[k], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for k, cell := range row {
			b.WriteString(cell)
			if k < len(row)-1 {
				b.WriteString(strings.Repeat(" ", wide[k]-utf8.RuneCountInString(cell)+2))
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}
