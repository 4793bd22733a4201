package daemon

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"orchestrator/thread"
	"orchestrator/thread/api"
)

// TestRead: a request is what it says, or it is refused; what is wrong with it is named.
func TestRead(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, c := range []struct {
		name, body string
		read       func([]byte) (any, error)
		want       any    // nil if it is refused
		says       string // by the refusal
	}{
		{"nothing", ``, as[api.Ref], api.Ref{}, ""},
		{"as it is", `{"thread":"a"}`, as[api.Ref], api.Ref{Thread: "a"}, ""},
		{"an escaped name", `{"\u0074hread":"a"}`, as[api.Ref], api.Ref{Thread: "a"}, ""},
		{"a line's end", "{\"thread\":\"a\"}\n", as[api.Ref], api.Ref{Thread: "a"}, ""},
		{"without a tag", `{"thread":"a","page":{"Before":3,"Turns":true}}`, as[api.TimelineRequest], api.TimelineRequest{Thread: "a", Page: thread.Page{Before: 3, Turns: true}}, ""},
		{"a field of another operation", `{"thread":"a","token":"x"}`, as[api.Ref], nil, `"token"`},
		{"a field that the wire has not", `{"source":"a","Thread":"b"}`, as[thread.StageRequest], nil, `"Thread"`},
		{"another case", `{"Thread":"a"}`, as[api.Ref], nil, `"Thread"`},
		{"another case beside it", `{"thread":"a","THREAD":"b"}`, as[api.Ref], nil, `"THREAD"`},
		{"a letter that folds to another", `{"query":"a","limit":1,"ſ":1}`, as[api.FindRequest], nil, `"ſ"`},
		{"twice", `{"thread":"a","thread":"b"}`, as[api.Ref], nil, `"thread" comes twice`},
		{"twice, escaped", `{"thread":"a","\u0074hread":"b"}`, as[api.Ref], nil, `"thread" comes twice`},
		{"a field inside", `{"thread":"a","page":{"Before":3,"limit":1}}`, as[api.TimelineRequest], nil, `"limit"`},
		{"twice inside", `{"thread":"a","page":{"All":true,"All":false}}`, as[api.TimelineRequest], nil, `"All" comes twice`},
		{"a field of a pointer's", `{"thread":"a","editSummary":{"id":"x","text":"","more":1}}`, as[thread.ContextChange], nil, `"more"`},
		{"of nothing", `{"thread":"a"}`, as[api.None], nil, `"thread"`},
		{"another request after it", `{"thread":"a"}{"thread":"b"}`, as[api.Ref], nil, "follows"},
		{"a bracket after it", `{"thread":"a"}]`, as[api.Ref], nil, "follows"},
		{"another kind", `{"thread":["a"]}`, as[api.Ref], nil, "thread"},
		{"no object", `[]`, as[api.Ref], nil, "array"},
		{"half of it", `{"thread":"a"`, as[api.Ref], nil, "EOF"},
		{"deep", `{"thread":` + deep, as[api.Ref], nil, "request"},
	} {
		got, err := c.read([]byte(c.body))
		switch {
		case c.want != nil && (err != nil || !reflect.DeepEqual(got, c.want)):
			t.Errorf("%s: %+v, %v", c.name, got, err)
		case c.want == nil && (!errors.Is(err, thread.ErrInvalid) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

func as[Req any](body []byte) (any, error) { return read[Req](body) }
