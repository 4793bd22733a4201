package plan

import (
	"fmt"
	"strings"

	"orchestrator/thread/plaintext"
)

// HowToHandOver tells an agent how its work reaches the next ones: the end of its prompt.
func HowToHandOver(a Agent) string {
	var b strings.Builder
	b.WriteString("How to hand over: ")
	if a.Output != "" && a.Output != OutputJSON {
		b.WriteString("your last message is what others get, as it is, without any words about it.")
		if a.Output == OutputImage || a.Output == OutputSheet {
			b.WriteString(" Write what is no text into files, and end with a JSON object instead: " +
				`{"summary": "what it is, in a few sentences", "output_data": null, "files": ["path of each file"]}`)
		}
	} else {
		b.WriteString("end your last message with one JSON object, and nothing after it:\n" +
			`{"summary": "what you found or made, in a few sentences", "output_data": ..., "files": ["path of each file that you hand over, if any"]}` + "\n" +
			"output_data is what other agents work with")
		if len(a.Schema) == 0 {
			b.WriteString(": any JSON value.")
		} else if schema, ok := pretty(string(a.Schema)); ok {
			b.WriteString(". It has to meet this JSON Schema:\n" + schema)
		} else {
			fmt.Fprintf(&b, ". It has to meet this JSON Schema:\n%s", a.Schema)
		}
	}
	if len(a.Deliver) > 0 {
		b.WriteString("\nThese files of your folder are handed over with it: " + plaintext.Line(strings.Join(a.Deliver, ", ")))
	}
	return b.String()
}
