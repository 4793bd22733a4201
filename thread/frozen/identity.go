package frozen

// identity tells apart the states of a file.
type identity struct {
	dev, ino             uint64
	size, mtime, changed int64
}
