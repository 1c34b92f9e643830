package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// A list holds changes that no test can see, because they change nothing that a user could
// notice, each with the reason. In its file an entry is
//
//	file function
//	- the lines as they are
//	+ the lines with the change, or * for every change of a number in them
//	  reason, on one or more indented lines
//
// Line numbers are not part of it, so that an entry stays true when code moves; those that
// mutate prints behind a file's name are ignored. Lines that begin with # are comments.
type list struct {
	name    string
	entries []*entry
}

type entry struct {
	file, function, from, to string
	reason                   bool
	line                     int // of the list
}

// readList reads a list; a file that does not exist is an empty one.
func readList(name string) (*list, error) {
	l := &list{name: name}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	var e *entry
	for i, line := range strings.Split(string(b), "\n") {
		switch {
		case strings.TrimSpace(line) == "", line[0] == '#':
		case strings.HasPrefix(line, "- ") && e != nil:
			e.from = strings.TrimSpace(line[1:])
		case line[0] == '+' && e != nil:
			e.to = strings.TrimSpace(line[1:])
		case line[0] == ' ' && e != nil:
			e.reason = true
		default:
			file, function, _ := strings.Cut(line, " ")
			file, _, _ = strings.Cut(file, ":")
			e = &entry{file: file, function: strings.TrimSpace(function), line: i + 1}
			l.entries = append(l.entries, e)
		}
	}
	for _, e := range l.entries {
		if e.from == "" || !e.reason {
			return nil, fmt.Errorf("%s:%d: an entry must have a change and a reason", name, e.line)
		}
	}
	return l, nil
}

func (e *entry) covers(c *change) bool {
	return e.file == c.File && e.function == c.Function && e.from == c.From && (e.to == c.To || e.to == "*" && c.number)
}

// has reports whether a change is listed.
func (l *list) has(c *change) bool {
	for _, e := range l.entries {
		if e.covers(c) {
			return true
		}
	}
	return false
}

// unknown returns an error for entries about the packages of these changes that cover none
// of them: the code has changed, and the entry must go or follow.
func (l *list) unknown(all []*change) error {
	files := map[string]bool{}
	for _, c := range all {
		files[c.File] = true
	}
	var faults []error
next:
	for _, e := range l.entries {
		if !files[e.file] {
			continue
		}
		for _, c := range all {
			if e.covers(c) {
				continue next
			}
		}
		faults = append(faults, fmt.Errorf("%s:%d: there is no such change in %s any more; mend the entry or delete it", l.name, e.line, e.file))
	}
	return errors.Join(faults...)
}
