package rpc_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"orchestrator/thread/ground/rpc"
)

func TestDecode(t *testing.T) {
	big := strings.Repeat("9", 400)
	for _, c := range []struct {
		name, frame string
		want        string // encoded again; "" if it is no message
		request     bool
		response    bool
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"b":1,"a":2}}`, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"b":1,"a":2}}`, true, false},
		{"space around", " \t{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\r\n", `{"jsonrpc":"2.0","id":1,"method":"m"}`, true, false},
		{"notification", `{"jsonrpc":"2.0","method":"m"}`, `{"jsonrpc":"2.0","method":"m"}`, false, false},
		{"null id of a request", `{"jsonrpc":"2.0","id":null,"method":"m"}`, `{"jsonrpc":"2.0","method":"m"}`, false, false},
		{"null id of an error", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`, false, true},
		{"null id of a result", `{"jsonrpc":"2.0","id":null,"result":{}}`, "", false, false},
		{"float id", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, true, false},
		{"negative id", `{"jsonrpc":"2.0","id":-1e3,"method":"m"}`, `{"jsonrpc":"2.0","id":-1e3,"method":"m"}`, true, false},
		{"huge id", `{"jsonrpc":"2.0","id":` + big + `,"method":"m"}`, `{"jsonrpc":"2.0","id":` + big + `,"method":"m"}`, true, false},
		{"text id", `{"jsonrpc":"2.0","id":"é<&>","method":"m"}`, `{"jsonrpc":"2.0","id":"é<&>","method":"m"}`, true, false},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"m"}`, "", false, false},
		{"array id", `{"jsonrpc":"2.0","id":[1],"method":"m"}`, "", false, false},
		{"true id", `{"jsonrpc":"2.0","id":true,"method":"m"}`, "", false, false},
		{"twice the same key", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}`, `{"jsonrpc":"2.0","id":2,"method":"b"}`, true, false},
		{"result", `{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993123,"f":1.50,"z":"<\u00e9>"}}`, `{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993123,"f":1.50,"z":"<\u00e9>"}}`, false, true},
		{"null result", `{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":1,"result":null}`, false, true},
		{"result and null error", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, false, true},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-9007199254740993,"message":"<x>","data":{"n":9007199254740993123}}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-9007199254740993,"message":"<x>","data":{"n":9007199254740993123}}}`, false, true},
		{"error with a text for a code", `{"jsonrpc":"2.0","id":1,"error":{"code":"E1","message":"x"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"an error that is not one of JSON-RPC","data":{"code":"E1","message":"x"}}}`, false, true},
		{"error that is a text", `{"jsonrpc":"2.0","id":1,"error":"x"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"an error that is not one of JSON-RPC","data":"x"}}`, false, true},
		{"unknown field of a message", `{"jsonrpc":"2.0","id":1,"method":"m","x":1}`, `{"jsonrpc":"2.0","id":1,"method":"m"}`, true, false},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "", false, false},
		{"nothing", ``, "", false, false},
		{"text", `hello`, "", false, false},
		{"null", `null`, "", false, false},
		{"half", `{"jsonrpc":"2.0","id":1,`, "", false, false},
		{"two", `{"jsonrpc":"2.0","method":"m"}{"jsonrpc":"2.0","method":"m"}`, "", false, false},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, "", false, false},
		{"no version", `{"id":1,"method":"m"}`, "", false, false},
		{"neither request nor response", `{"jsonrpc":"2.0","id":1}`, "", false, false},
		{"empty", `{"jsonrpc":"2.0"}`, "", false, false},
		{"method that is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, "", false, false},
		{"too deep", `{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := rpc.Decode([]byte(c.frame))
			if c.want == "" {
				if err == nil {
					t.Fatalf("it was taken for %+v", m)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.Encode()
			if err != nil || string(b) != c.want {
				t.Errorf("it became\n%s\nnot\n%s\n(%v)", b, c.want, err)
			}
			if m.IsRequest() != c.request || m.IsResponse() != c.response {
				t.Errorf("request %t, response %t", m.IsRequest(), m.IsResponse())
			}
		})
	}
}

func TestDecodeKeepsNoPartOfTheFrame(t *testing.T) {
	frame := []byte(`{"jsonrpc":"2.0","id":"one","method":"m","params":{"a":"one"},"error":"one"}`)
	m, err := rpc.Decode(frame)
	if err != nil {
		t.Fatal(err)
	}
	for i := range frame {
		frame[i] = 'x'
	}
	if string(m.ID) != `"one"` || string(m.Params) != `{"a":"one"}` || string(m.Error.Data) != `"one"` {
		t.Errorf("it changed with the frame: %+v %s", m, m.Error.Data)
	}
}

func TestEncodeRefusesWhatIsNotJSON(t *testing.T) {
	if b, err := (rpc.Message{Method: "m", Params: json.RawMessage(`{`)}).Encode(); err == nil {
		t.Errorf("it became %s", b)
	}
	b, err := rpc.Message{Method: "m", Params: json.RawMessage("{\n \"a\": 1\n}")}.Encode()
	if err != nil || strings.Contains(string(b), "\n") {
		t.Errorf("it is not one line: %q, %v", b, err)
	}
}

func TestResponse(t *testing.T) {
	id := json.RawMessage("7")
	for _, c := range []struct {
		name   string
		result string
		err    error
		want   string
	}{
		{"nothing", "", nil, `{"jsonrpc":"2.0","id":7,"result":{}}`},
		{"result", "[1]", nil, `{"jsonrpc":"2.0","id":7,"result":[1]}`},
		{"error", "", errors.New("broken"), `{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"broken"}}`},
		{"error of the protocol", "{}", errors.Join(errors.New("x"), rpc.Errorf(rpc.CodeNoMethod, "no %s", "m")), `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no m"}}`},
	} {
		var result json.RawMessage
		if c.result != "" {
			result = json.RawMessage(c.result)
		}
		if b, err := rpc.Response(id, result, c.err).Encode(); err != nil || string(b) != c.want {
			t.Errorf("%s: %s, %v", c.name, b, err)
		}
	}
}

// FuzzDecode: what is taken for a message can be encoded, and stays the same when it is decoded again.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":9007199254740993123}}`, `{"jsonrpc":"2.0","id":"\ud800","result":null}`,
		`{"jsonrpc":"2.0","id":1e9,"error":{"code":1,"message":"x","data":[]}}`, `{"jsonrpc":"2.0","id":1,"error":7}`,
		"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", `[]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := rpc.Decode(frame)
		if err != nil {
			return
		}
		if m.IsRequest() && m.IsResponse() {
			t.Fatalf("request and response: %s", frame)
		}
		one, err := m.Encode()
		if err != nil {
			t.Fatalf("%s cannot be encoded: %v", frame, err)
		}
		again, err := rpc.Decode(one)
		if err != nil {
			t.Fatalf("%s became %s: %v", frame, one, err)
		}
		if two, err := again.Encode(); err != nil || string(one) != string(two) {
			t.Fatalf("%s became %s and then %s, %v", frame, one, two, err)
		}
	})
}
