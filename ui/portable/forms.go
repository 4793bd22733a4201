package portable

import (
	"path/filepath"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// newExport makes the dialog that writes a thread to a file; relative names are of the folder dir.
func newExport(s *thread.Status, dir string, export func(thread.TransferRequest) tea.Cmd) *dialog.Form {
	id := string(s.ID)
	file := &dialog.Input{Label: "File", Hint: "File to write", Text: field.New(s.Name + ".orchestrator")}
	files := dialog.YesNo("Files", true, "the conversation alone")
	files.Options[1].Note = "the conversation and the files as they were at each turn"
	secrets := dialog.YesNo("Secrets", false, "known kinds of keys and passwords are removed")
	secrets.Options[1].Note = "nothing is removed from the conversation"
	return dialog.NewForm("export "+s.DisplayName(), func() (dialog.Result, string) {
		name := strings.TrimSpace(file.Text.Value())
		if name == "" {
			return nil, "Enter a file name"
		}
		req := thread.TransferRequest{Thread: id, File: within(dir, name), NoFiles: !files.On(), WithSecrets: secrets.On()}
		return host.Do(func() tea.Cmd { return export(req) }), ""
	}, file, files, secrets).Verb("export")
}

// newImport makes the dialog that takes a thread from a file.
func newImport(dir string, take func(thread.TransferRequest) tea.Cmd) *dialog.Form {
	file := &dialog.Input{Label: "File", Hint: "File written by export"}
	return dialog.NewForm("import a thread", func() (dialog.Result, string) {
		name := strings.TrimSpace(file.Text.Value())
		if name == "" {
			return nil, "Enter a file name"
		}
		req := thread.TransferRequest{File: within(dir, name)}
		return host.Do(func() tea.Cmd { return take(req) }), ""
	}, file).Verb("import")
}

func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}
