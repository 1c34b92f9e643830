package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/commands"
	"github.com/murksim/murksim/scenarios"
)

// Command says a command in words, with all that stands beside it.
func Command(n scenarios.Names, c *commands.Command) string { return Meta(n.Describe(c), &c.Meta) }

// Meta says what a command does, with all that stands beside it.
func Meta(what string, m *commands.Meta) string {
	parts := []string{what, fmt.Sprintf("priority %d", m.Priority)}
	if m.HasSource {
		parts = append(parts, fmt.Sprintf("source %d", m.Source))
	}
	if m.HasSeq {
		parts = append(parts, fmt.Sprintf("source sequence %d", m.SourceSeq))
	}
	if m.Expires != commands.NoExpiry {
		parts = append(parts, "expires after tick "+Number(m.Expires))
	}
	return strings.Join(slices.Concat(parts, []string{fmt.Sprintf("arrival %d", m.Arrival)}), "  ")
}
