package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// drawable prepares a console for pictures, and reports whether it knows the sequences that
// they are made of. Consoles before those of Windows 10 do not.
func drawable(f *os.File) bool {
	console, mode := windows.Handle(f.Fd()), uint32(0)
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
