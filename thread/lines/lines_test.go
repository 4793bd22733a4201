package lines_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"orchestrator/thread/lines"
)

// TestParse: lines are counted with the empty ones, broken ones are named, and a reader that fails ends it.
func TestParse(t *testing.T) {
	torn, bad := errors.New("torn"), errors.New("bad")
	long := bytes.Repeat([]byte("x"), lines.Most+1)
	in := io.MultiReader(strings.NewReader("a\r\n\n bad \n"), bytes.NewReader(long), strings.NewReader("\nb\nhalf"),
		iotest.ErrReader(torn))
	var got []string
	for text, err := range lines.Parse(in, func(line []byte) (string, error) {
		if string(line) == "bad" {
			return "ignored", bad
		}
		return string(line), nil
	}) {
		broken := (*lines.Broken)(nil)
		switch {
		case errors.As(err, &broken):
			got = append(got, fmt.Sprint(text, broken.Line, errors.Is(err, bad), errors.Is(err, lines.ErrLong)))
		case err != nil:
			got = append(got, err.Error())
		default:
			got = append(got, text)
		}
	}
	if want := []string{"a", "3 true false", "4 false true", "b", "torn"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, err := range lines.Parse(strings.NewReader("a\nb"), func([]byte) (int, error) { return 0, nil }) {
		if err != nil {
			t.Error(err)
		}
		break // whoever reads may stop
	}
}
