package project

// Shared returns the project's name in a shared store, from its state; "" where none is kept yet.
func (p Project) Shared() (string, error) {
	f, err := p.Folder()
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := readRecord(f)
	return r.Shared, err
}

// KeepShared keeps the project's name in a shared store.
func (p Project) KeepShared(name string) error {
	home, err := Home(p.places)
	if err != nil {
		return err
	}
	defer home.Close()
	lock, err := lockHome(home)
	if err != nil {
		return err
	}
	defer lock.Close()
	f, err := home.Open(p.folder)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := readRecord(f)
	if err != nil {
		return err
	}
	r.Shared = name
	return state{record: r}.write(f)
}
