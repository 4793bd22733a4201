package policy

import (
	"encoding/json"
	"slices"
	"strings"
)

// Use is what a call of a tool means for masking its result.
type Use struct {
	Kind Kind
	// Reads and Writes name the file that the tool reads or writes, as the agent named it; they are empty if that is not
	// known, as with commands of a shell.
	Reads, Writes string
	// Part is which part of the file is read, in the agent's own numbers; all of it if empty.
	Part string
}

// readers and writers are the tools of the agents for files, and others those whose results are not output of work.
// Names are in lower case, without underscores.
var (
	readers = []string{"read", "readfile", "view", "notebookread"}
	writers = []string{"edit", "multiedit", "write", "writefile", "notebookedit", "replace", "applypatch", "patch"}
	others  = map[string]Kind{
		"todowrite": KindTodo, "todoread": KindTodo, "writetodos": KindTodo,
		"taskcreate": KindTodo, "taskupdate": KindTodo, "tasklist": KindTodo, "taskget": KindTodo,
		"updateplan": KindPlan, "exitplanmode": KindPlan, "enterplanmode": KindPlan,
		"skill": KindSkill, "activateskill": KindSkill,
		"task": KindSubagent, "agent": KindSubagent, "spawnagent": KindSubagent, "waitagent": KindSubagent,
		"sendmessage": KindSubagent, "followuptask": KindSubagent, "listagents": KindSubagent, "workflow": KindSubagent,
		"askuserquestion": KindPerson, "requestuserinput": KindPerson, "question": KindPerson,
		"viewimage": KindImage,
	}
)

// mostInput bounds the inputs that are read to find a file's name.
const mostInput = 8 << 20

// Describe returns what a call of a tool means. Of tools that are not known it says that they are work on no file.
func Describe(tool string, input []byte) Use {
	name := strings.ReplaceAll(strings.ToLower(tool), "_", "")
	if kind, ok := others[name]; ok {
		return Use{Kind: kind}
	}
	switch {
	case slices.Contains(readers, name):
		return Use{Reads: fileOf(input), Part: partOf(input)}
	case slices.Contains(writers, name):
		return Use{Writes: fileOf(input)}
	default:
		return Use{}
	}
}

// fileOf returns the file that an input names: a field of a JSON object, or the first file of a patch.
func fileOf(input []byte) string {
	if len(input) > mostInput {
		return ""
	}
	var fields struct {
		FilePath  string `json:"file_path"`
		CamelPath string `json:"filePath"`
		Absolute  string `json:"absolute_path"`
		Notebook  string `json:"notebook_path"`
		Path      string `json:"path"`
		Input     string `json:"input"`
		Patch     string `json:"patchText"`
	}
	if json.Unmarshal(input, &fields) != nil {
		return patched(string(input))
	}
	for _, name := range []string{fields.FilePath, fields.CamelPath, fields.Absolute, fields.Notebook, fields.Path} {
		if name != "" {
			return short(name)
		}
	}
	return patched(fields.Input + fields.Patch)
}

// mostName is the longest name of a file.
const mostName = 4096

// short returns a name that can be one.
func short(name string) string {
	if len(name) > mostName {
		return ""
	}
	return strings.Clone(name) // not a part of the whole patch
}

// partOf returns which part of a file an input asks for.
func partOf(input []byte) string {
	var fields struct {
		Offset json.RawMessage `json:"offset"`
		Limit  json.RawMessage `json:"limit"`
		Pages  json.RawMessage `json:"pages"`
	}
	if len(input) > mostInput || json.Unmarshal(input, &fields) != nil ||
		len(fields.Offset)+len(fields.Limit)+len(fields.Pages) == 0 {
		return ""
	}
	return short(string(fields.Offset) + "+" + string(fields.Limit) + "+" + string(fields.Pages))
}

// patched returns the first file that a patch in the agents' own format changes.
func patched(text string) string {
	for line := range strings.Lines(text) {
		for _, head := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), head); ok {
				return short(name)
			}
		}
	}
	return ""
}
