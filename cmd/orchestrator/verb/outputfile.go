package verb

import "errors"

// outputFile is the flag --output of a verb that writes a file. json and text mean what they mean everywhere: a file of that
// name is ./json.
type outputFile struct {
	json *bool
	name string
}

// String returns the file's name.
func (f *outputFile) String() string { return f.name }

// Set takes a file's name, or a format.
func (f *outputFile) Set(text string) error {
	switch format(text) {
	case "":
		return errors.New("the name of a file")
	case formatJSON:
		*f.json = true
	case formatText:
	default:
		f.name = text
	}
	return nil
}

// Type names the kind of value in help.
func (f *outputFile) Type() string { return "file" }
