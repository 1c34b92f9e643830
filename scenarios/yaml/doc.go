// Package yaml reads scenarios from YAML.
//
// [Load] reads one from a file, [Parse] from a text. Errors are of the type
// [*document.Error]: they show the line and suggest what may have been meant. Values
// can be replaced on the way, as by the flag --set of murksim.
//
// A text may have 2 MiB. What is in it is bounded, too, so that to read or refuse it takes
// less than 160 MB of memory and about two seconds, whatever it says.
package yaml
