package definition

import (
	"errors"
	"io/fs"
)

// maxContent is the size limit of a file that {file:…} names.
const maxContent = 64 << 10

// contents are files that the texts of a definition name, by their paths, as they were read.
type contents map[string]content

type content struct {
	text []byte
	err  error
}

// read returns the content of a file: as it was read, or as it is if nothing was read before. An error names no content.
func (c contents) read(path string) ([]byte, error) {
	if c != nil {
		one, ok := c[path]
		if !ok {
			return nil, errors.New("it was not read when the server was looked at")
		}
		return one.text, one.err
	}
	text, err := readFile(path, maxContent)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no such file")
	}
	return text, err
}
