package transfer

import (
	"path/filepath"
	"strings"

	"orchestrator/thread"
	"orchestrator/ui/dialog"
	"orchestrator/ui/field"
	"orchestrator/ui/host"

	tea "charm.land/bubbletea/v2"
)

// newExport returns the dialog that exports a thread to a file; relative names are relative to dir.
func newExport(s *thread.Status, dir string, export func(thread.TransferRequest) tea.Cmd) *dialog.Form {
	id := string(s.ID)
	file := &dialog.Input{Label: "File", Hint: "File to write", Text: field.New(s.Name + ".orchestrator")}
	files := dialog.YesNo("Files", true, "conversation only")
	files.Options[1].Note = "conversation and files, as of each turn"
	secrets := dialog.YesNo("Secrets", false, "remove keys and passwords of known formats")
	secrets.Options[1].Note = "keep keys and passwords in the conversation"
	return dialog.NewForm("export "+s.TypedName(), func() (dialog.Result, string) {
		name := strings.TrimSpace(file.Text.Value())
		if name == "" {
			return nil, "Enter a file name"
		}
		req := thread.TransferRequest{Thread: id, File: within(dir, name), NoFiles: !files.On(), WithSecrets: secrets.On()}
		return host.Do(func() tea.Cmd { return export(req) }), ""
	}, file, files, secrets).Verb("export")
}

// newImport returns the dialog that imports a thread from a file.
func newImport(dir string, load func(thread.TransferRequest) tea.Cmd) *dialog.Form {
	file := &dialog.Input{Label: "File", Hint: "An exported thread"}
	return dialog.NewForm("import a thread", func() (dialog.Result, string) {
		name := strings.TrimSpace(file.Text.Value())
		if name == "" {
			return nil, "Enter a file name"
		}
		req := thread.TransferRequest{File: within(dir, name)}
		return host.Do(func() tea.Cmd { return load(req) }), ""
	}, file).Verb("import")
}

func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}
