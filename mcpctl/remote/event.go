package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"orchestrator/thread/ground/rpc"
)

// event is a server-sent event.
type event struct {
	name string // "message" if it has none
	id   string
	data []byte
}

// errTooLong is why a stream of events ends.
var errTooLong = errors.New("an event is too long")

// eventReader reads server-sent events.
type eventReader struct{ in *bufio.Reader }

func newEventReader(in io.Reader) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(in, 32<<10)}
}

// next returns the next event that has data or an id. Its data is not overwritten later.
func (r *eventReader) next() (event, error) {
	e := event{name: "message"}
	var data [][]byte
	size := 0
	for {
		line, err := r.line(rpc.MaxFrame - size)
		if err != nil {
			return event{}, err // an event that is not finished is none
		}
		size += len(line) + 1
		if len(line) == 0 {
			if data == nil && e.id == "" {
				e, size = event{name: "message"}, 0
				continue
			}
			e.data = bytes.Join(data, []byte{'\n'})
			return e, nil
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "event":
			e.name = string(value)
		case "id":
			if id := string(value); !strings.ContainsRune(id, 0) && len(id) <= 1024 {
				e.id = id
			}
		case "data":
			data = append(data, value)
		}
	}
}

// line returns the next line without its end.
func (r *eventReader) line(most int) ([]byte, error) {
	var whole []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(whole)+len(part) > most {
			return nil, errTooLong
		}
		whole = append(whole, part...)
		if err == nil {
			return bytes.TrimRight(whole, "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}
