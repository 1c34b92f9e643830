package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murksim/murksim/scenarios"
)

// section finds the lines from the one that is a heading to the next heading of a
// document, and the bytes where they begin and end. A heading begins with # or is a
// line in bold.
func section(text, heading string) (from, to int, ok bool) {
	fenced := false
	at := 0
	to = len(text)
	for line := range strings.Lines(text) {
		plain := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
		case !ok && (plain == heading || strings.HasPrefix(plain, heading+",")):
			from, ok = at, true
		case ok && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") && strings.Contains(line, "@")):
			return from, at, true
		}
		at += len(line)
	}
	return from, to, ok
}

// replaceTable replaces the first table of a section.
func replaceTable(text, heading, table string) (string, error) {
	from, to, ok := section(text, heading)
	if !ok {
		return "", fmt.Errorf("there is no %q", heading)
	}
	if table == "" {
		return text, nil
	}
	head := text[from:to]
	begin := strings.Index(head, "\n|") + 1
	if begin == 0 {
		return "", fmt.Errorf("there is no table under %q", heading)
	}
	end := begin
	for line := range strings.Lines(head[begin:]) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		end += len(line)
	}
	return text[:from] + head[:begin] + table + head[end:] + text[to:], nil
}

// insertAfter puts a section behind another.
func insertAfter(text, heading, added string) (string, error) {
	_, to, ok := section(text, heading)
	if !ok {
		return "", fmt.Errorf("there is no %q to stand before %q", heading, added)
	}
	return strings.TrimRight(text[:to], "\n") + "\n\n" + added + "\n" + text[to:], nil
}

// updateGuide brings the sections of components in SCENARIO.md up to date.
func updateGuide(text string, all []scenarios.Component, shows []exhibit) (string, error) {
	before := "## Components"
	for i := range all {
		c := &all[i]
		keys := keysOf(c)
		heading := "### " + c.Heading()
		var err error
		if _, _, ok := section(text, heading); !ok {
			about := heading + "\n\n" + c.About + "\n"
			if len(keys) > 0 {
				about += "\n" + guideTable(outer(keys))
			}
			about += entryTables(keys, guideTable)
			if slices.ContainsFunc(shows, func(x exhibit) bool { return x.Name == c.Name }) {
				about += fmt.Sprintf("\n[More](propagators/%s.md).\n", c.Name)
			}
			text, err = insertAfter(text, before, about)
		} else if len(keys) > 0 {
			text, err = replaceTable(text, heading, guideTable(outer(keys)))
		}
		if err != nil {
			return "", err
		}
		before = heading
	}
	return text, nil
}

// entryTables has a table for each list of the component's own structs.
func entryTables(keys []key, table func([]key) string) (text string) {
	for _, list := range keys {
		if _, ok := entries(list.of); !ok {
			continue
		}
		var rows []key
		for _, k := range keys {
			if name, ok := strings.CutPrefix(k.path, list.path+"."); ok && !strings.Contains(name, ".") {
				k.path = name
				rows = append(rows, k)
			}
		}
		if len(rows) > 0 {
			text += fmt.Sprintf("\n**%s**, an item of the list:\n\n%s", list.path, table(rows))
		}
	}
	return text
}

// updateDescriptor brings the tables of components in DESCRIPTOR.md up to date.
func updateDescriptor(text string, all []scenarios.Component) (string, error) {
	before := "## Components"
	for i := range all {
		c := &all[i]
		keys := keysOf(c)
		heading := "**" + c.ID() + "**"
		if c.Title != "" {
			heading += ", a " + c.Title
		}
		var err error
		switch _, _, ok := section(text, heading); {
		case !ok && len(keys) == 0:
			text, err = insertAfter(text, before, heading+"\n\nIt has no parameters.\n")
		case !ok:
			text, err = insertAfter(text, before, heading+"\n\n"+descriptorTable(outer(keys))+entryTables(keys, descriptorTable))
		case len(keys) > 0:
			text, err = replaceTable(text, heading, descriptorTable(outer(keys)))
		}
		if err != nil {
			return "", err
		}
		before = heading
	}
	return text, nil
}

// index is the table of the propagators' pages.
func index(shows []exhibit) string {
	text := "| | kind | what it does | writes |\n| --- | --- | --- | --- |\n"
	for i := range shows {
		x := &shows[i]
		about := strings.ToLower(x.About[:1]) + strings.TrimSuffix(x.About[1:], ".")
		text += fmt.Sprintf("| <img src=\"%s.png\" width=\"96\" alt=\"\"> | [%s](%s.md) | %s | %s |\n", x.Name, x.Name, x.Name, about, x.writes())
	}
	return text
}
