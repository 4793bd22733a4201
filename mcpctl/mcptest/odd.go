package mcptest

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"unicode/utf16"
)

// odd writes messages as odd servers do.
type odd struct {
	to    io.Writer
	kind  string
	begun bool
}

// inFront is what stands in front of the first message, by kind; with the kind "every-" and the name, of every message.
var inFront = map[string]string{
	"bom": "\ufeff", "prompt": "Loading... ", "colour": "\x1b[32mready\x1b[0m ", "progress": "50%\r100%\r",
	"braces": "config {a:{b:1}} ", "title": "\x1b]0;odd\x07", "space": "\u00a0", "junk": "null\n[]\n{}\n\"x\"\n7\n\n",
	"nul": "\x00",
}

var ids = regexp.MustCompile(`"id":(\d+)`)

// Write gets one message with its newline.
func (o *odd) Write(b []byte) (int, error) {
	out := bytes.TrimSuffix(b, []byte("\n"))
	end := "\n"
	if text := inFront[o.kind]; text != "" && !o.begun {
		out = append([]byte(text), out...)
	}
	if len(o.kind) > 6 && o.kind[:6] == "every-" {
		out = append([]byte(inFront[o.kind[6:]]), out...)
	}
	o.begun = true
	switch o.kind {
	case "crlf":
		end = "\r\n"
	case "cr":
		end = "\r"
	case "endless":
		end = ""
	case "string-ids":
		out = ids.ReplaceAll(out, []byte(`"id":"$1"`))
	case "float-ids":
		out = ids.ReplaceAll(out, []byte(`"id":${1}.0`))
	case "exponent-ids":
		out = ids.ReplaceAll(out, []byte(`"id":${1}e0`))
	case "spaced-ids":
		out = ids.ReplaceAll(out, []byte(`"id":" $1 "`))
	case "float-string-ids":
		out = ids.ReplaceAll(out, []byte(`"id":"${1}.0"`))
	case "pretty":
		var pretty bytes.Buffer
		if json.Indent(&pretty, out, "", "  ") == nil {
			out = pretty.Bytes()
		}
	case "batch":
		out = append(append([]byte("["), out...), ']')
	case "after":
		out = append(out, " done"...)
	case "no-version":
		out = bytes.Replace(out, []byte(`"jsonrpc":"2.0",`), nil, 1)
	case "utf16":
		var wide []byte
		for _, u := range utf16.Encode([]rune(string(out) + end)) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		out, end = wide, ""
	}
	if _, err := o.to.Write(append(out, end...)); err != nil {
		return 0, err
	}
	return len(b), nil
}
