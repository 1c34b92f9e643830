// Package yaml reads scenarios from YAML.
//
// [Load] reads one from a file, [Parse] from a text. Errors are of the type
// [*document.Error]: they show the line and suggest what may have been meant. Values
// can be replaced on the way, as by the flag --set of murksim.
package yaml
