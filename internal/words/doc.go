// Package words writes for people: numbers, sizes and times, tables, names of files as they are typed, and errors with the file and the
// place that they are about. What comes from files, databases or other programs is made fit for a terminal.
package words
