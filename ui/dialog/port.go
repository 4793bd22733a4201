package dialog

import (
	"path/filepath"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/field"
)

// Exported is the result of the export dialog.
type Exported struct{ Request thread.PortRequest }

// Imported is the result of the import dialog.
type Imported struct{ Request thread.PortRequest }

// DialogResult marks it.
func (Exported) DialogResult() {}

// DialogResult marks it.
func (Imported) DialogResult() {}

// NewExport makes the dialog that writes a thread to a file; relative names are of the folder dir.
func NewExport(s *thread.Status, dir string) *Form {
	file := &Input{Label: "File", Hint: "File to write", Text: field.New(s.Name + ".orchestrator")}
	files := yesNo("Files", true, "the conversation alone")
	files.Options[1].Note = "the conversation and the files as they were at each turn"
	secrets := yesNo("Secrets", false, "known kinds of keys and passwords are removed")
	secrets.Options[1].Note = "nothing is removed from the conversation"
	return NewForm("export "+s.DisplayName(), func() (Result, string) {
		name := strings.TrimSpace(file.Text.Value())
		if name == "" {
			return nil, "Enter a file name"
		}
		return Exported{thread.PortRequest{Thread: string(s.ID), File: within(dir, name), NoFiles: !files.on(), WithSecrets: secrets.on()}}, ""
	}, file, files, secrets).Verb("export")
}

// NewImport makes the dialog that takes a thread from a file.
func NewImport(dir string) *Form {
	file := &Input{Label: "File", Hint: "File written by export"}
	return NewForm("import a thread", func() (Result, string) {
		name := strings.TrimSpace(file.Text.Value())
		if name == "" {
			return nil, "Enter a file name"
		}
		return Imported{thread.PortRequest{File: within(dir, name)}}, ""
	}, file).Verb("import")
}

func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}
