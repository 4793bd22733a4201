package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"orchestrator/thread"
	"orchestrator/thread/lines"
	"orchestrator/thread/private"
)

// The file of a log: a happening a line.
const (
	name = "events.jsonl"
	// mostFile is how many bytes of it are read: more than the log can have.
	mostFile = 8 << 20
)

// File keeps a log across restarts. It has at most twice as many lines as the log has happenings.
type File struct {
	folder *private.Folder
	lines  int
}

// OpenFile opens the file in a state folder and returns what it has, oldest first. Lines that are not happenings are left
// out: a crash may have cut the last.
func OpenFile(state string) (*File, []thread.Happening, error) {
	folder, err := private.Make(state)
	if err != nil {
		return nil, nil, fmt.Errorf("open the event log: %w", err)
	}
	f := &File{folder: folder}
	content, err := folder.Read(name, mostFile)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil, nil
	}
	if err != nil {
		return f, nil, errors.Join(fmt.Errorf("read the event log: %w", err), f.Replace(nil))
	}
	list := read(content)
	if f.lines = bytes.Count(content, []byte("\n")); len(content) > 0 && content[len(content)-1] != '\n' {
		return f, list, f.Replace(list) // what is added must not be behind half a line
	}
	return f, list, nil
}

// read returns the happenings of a file in order of their numbers.
func read(content []byte) (list []thread.Happening) {
	last := int64(0)
	for h, err := range lines.Parse(bytes.NewReader(content), func(line []byte) (h thread.Happening, err error) {
		return h, json.Unmarshal(line, &h)
	}) {
		if err != nil || h.Seq <= last {
			continue
		}
		h.Text, h.Label, h.Name = clean(h.Text, mostText), clean(h.Label, mostLabel), clean(h.Name, mostLabel)
		last, list = h.Seq, append(list, h)
	}
	return list[max(0, len(list)-Most):]
}

// Append adds happenings. If the file would be too long it is replaced by all, which has them too.
func (f *File) Append(list []thread.Happening, all func() []thread.Happening) error {
	if f.lines += len(list); f.lines > 2*Most {
		return f.Replace(all())
	}
	file, err := f.folder.File(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return fmt.Errorf("write the event log: %w", err)
	}
	_, err = file.Write(encode(list))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the event log: %w", err)
	}
	return nil
}

// Replace has the file hold these happenings and no others.
func (f *File) Replace(list []thread.Happening) error {
	if err := f.folder.Write(name, encode(list)); err != nil {
		return fmt.Errorf("write the event log: %w", err)
	}
	f.lines = len(list)
	return nil
}

// Close lets go of the folder.
func (f *File) Close() error { return f.folder.Close() }

func encode(list []thread.Happening) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, h := range list {
		_ = e.Encode(h) // strings and numbers: never fails
	}
	return b.Bytes()
}
