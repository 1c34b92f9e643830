package draft

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
