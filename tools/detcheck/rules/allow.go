package rules

import (
	"go/ast"
	"go/token"
	"strings"
)

const allow = "//detcheck:allow"

// An exception excuses the findings of one rule on one line.
type exception struct {
	pos  token.Pos
	file string
	line int // that it covers
	rule string
	used bool
}

func (e *exception) covers(p token.Position, rule string) bool {
	return e.rule == rule && e.line == p.Line && e.file == p.Filename
}

// exceptions reads the comments, and finds fault with those that are not in order.
func (c *checker) exceptions() (good []exception, bad []finding) {
	for _, f := range c.Files {
		var code map[int]bool // made at need
		for _, group := range f.Comments {
			for _, comment := range group.List {
				if !strings.HasPrefix(comment.Text, allow) {
					continue
				}
				if code == nil {
					code = c.codeLines(f)
				}
				at := c.Fset.Position(comment.Pos())
				line := at.Line
				if !code[line] {
					line = c.Fset.Position(group.End()).Line + 1
				}
				rule, fault := parseAllow(comment.Text)
				if fault != "" {
					bad = append(bad, finding{comment.Pos(), "allow", fault})
					continue
				}
				good = append(good, exception{pos: comment.Pos(), file: at.Filename, line: line, rule: rule})
			}
		}
	}
	return good, bad
}

// parseAllow takes a comment apart. What follows a further // is not a reason.
func parseAllow(text string) (rule, fault string) {
	text = strings.TrimPrefix(text, allow)
	text, _, _ = strings.Cut(text, " //")
	if text != "" && text[0] != ' ' && text[0] != '\t' {
		return "", "the comment must read " + allow + " RULE reason"
	}
	rule, reason, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case rule == "":
		return "", "the comment names no rule: " + allow + " RULE reason"
	case !known(rule):
		return "", "there is no rule " + rule + "; detcheck --help lists them"
	case strings.TrimSpace(reason) == "":
		return "", "an exception from " + rule + " needs a reason: " + allow + " " + rule + " reason"
	}
	return rule, ""
}

// codeLines returns the lines of a file on which a node begins or ends.
func (c *checker) codeLines(f *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case nil:
			return false
		case *ast.Comment, *ast.CommentGroup:
			return false
		case *ast.File:
			return true // a file may begin with its comments
		}
		lines[c.Fset.Position(n.Pos()).Line] = true
		lines[c.Fset.Position(n.End()).Line] = true
		return true
	})
	return lines
}
