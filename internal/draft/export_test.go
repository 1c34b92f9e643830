package draft

// Command is what a lock tells of a command line.
var Command = command

// OnSyncFolder replaces what writes the names of a folder through to the disk, until undo.
func OnSyncFolder(f func(path string) error) (undo func()) {
	was := syncFolder
	syncFolder = f
	return func() { syncFolder = was }
}

// WriteOver is what Publish does where the older file cannot be exchanged.
func (f *File) WriteOver() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.copyOver(); err != nil {
		return err
	}
	f.temp, f.published = "", true
	return nil
}
