package protocol

import (
	"errors"
	"net/http"
	"reflect"
	"testing"

	"orchestrator/thread"
)

// TestErrorsTravel sends every error of the domain over the wire and back.
func TestErrorsTravel(t *testing.T) {
	for _, c := range codes() {
		e, status := FromError(errors.Join(c.err, errors.New("by hand")))
		if e.Code != c.code || status != c.status {
			t.Errorf("%v became %q with %d", c.err, e.Code, status)
		}
		if back := e.Err(); !errors.Is(back, c.err) || back.Error() != e.Message {
			t.Errorf("%q came back as %v", c.code, back)
		}
	}
	want := &thread.UnknownThreadError{Name: "x", Nearest: []string{"xy"}, Many: true}
	e, status := FromError(want)
	var got *thread.UnknownThreadError
	if !errors.As(e.Err(), &got) || !reflect.DeepEqual(got, want) || status != http.StatusNotFound {
		t.Errorf("an unknown thread came back as %v with %d", e.Err(), status)
	}
	if e, status := FromError(errors.New("else")); e.Code != "error" || status != http.StatusInternalServerError ||
		e.Err().Error() != "else" {
		t.Errorf("another error became %+v with %d", e, status)
	}
}
