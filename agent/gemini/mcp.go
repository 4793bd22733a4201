package gemini

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"orchestrator/agent/launch"
	"orchestrator/thread"
)

// homeDir is the name of the folder, in the state folder, that Gemini CLI takes for its home.
const homeDir = "gemini-home"

// writtenFiles and writtenFolders are what Gemini CLI writes in its folder. They are linked even if they are missing, so
// that they come to be in the person's folder.
func writtenFiles() []string {
	return []string{
		"installation_id", "google_accounts.json", "oauth_creds.json", "state.json", "projects.json", "trustedFolders.json",
		"user_id", "gemini-credentials.json", "GEMINI.md",
	}
}

func writtenFolders() []string { return []string{"tmp", "history"} }

// TakesServers implements thread.ServerTaker.
func (*Agent) TakesServers() bool { return true }

// giveServer returns the arguments and the environment that leave Gemini CLI exactly one MCP server, and make the settings
// of levers. It has no settings for a single launch, so it gets a home of ours in which everything is a link to the
// person's own files, except for the settings: those are the person's with other servers and with ours. Our server is
// registered under a name that a repository cannot define.
func giveServer(env launch.Env, spec thread.LaunchSpec, out less) ([]string, launch.Env, thread.MCPReach, error) {
	if spec.MCP == nil && len(out.settings) == 0 {
		return nil, env, thread.MCPReach{}, nil
	}
	own := map[string]any{}
	if err := launch.ReadJSONC(filepath.Join(home(env), "settings.json"), &own); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return nil, nil, thread.MCPReach{}, err
	}
	var args []string
	var reach thread.MCPReach
	if spec.MCP != nil {
		own["mcpServers"] = map[string]any{spec.MCP.Registered: map[string]any{
			"command": spec.MCP.Command[0], "args": spec.MCP.Command[1:], "timeout": 600_000, "trust": false, // milliseconds
		}}
		args = []string{"--allowed-mcp-server-names", spec.MCP.Registered}
		reach = thread.MCPReach{
			Given: true, Live: true,
			Outside: []string{"what is changed in Gemini CLI's /settings is forgotten at the next start of the thread"},
		}
	}
	out.change(own)
	root := filepath.Join(spec.StateDir, homeDir)
	if err := mirror(home(env), filepath.Join(root, ".gemini")); err != nil {
		return nil, nil, thread.MCPReach{}, err
	}
	if err := linkEnv(filepath.Join(filepath.Dir(home(env)), ".env"), filepath.Join(root, ".env")); err != nil {
		return nil, nil, thread.MCPReach{}, err
	}
	if _, err := launch.WriteFile(filepath.Join(root, ".gemini"), "settings.json", own); err != nil {
		return nil, nil, thread.MCPReach{}, err
	}
	return args, env.With("GEMINI_CLI_HOME", root), reach, nil
}

// linkEnv links the person's .env file, which Gemini CLI also searches in its home.
func linkEnv(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(from); err != nil {
		return nil // there is none
	}
	if err := os.Symlink(from, to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// mirror fills a folder with links to the entries of another, except for the settings. Links to what is gone are
// removed; what is not a link was written there by Gemini CLI and stays.
func mirror(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	links, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, e := range links {
		if e.Type()&fs.ModeSymlink != 0 {
			if err := os.Remove(filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names := writtenFiles()
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, name := range writtenFolders() { // a missing folder cannot be made through a link to it
		if err := os.MkdirAll(filepath.Join(from, name), 0o755); err != nil {
			return err
		}
		names = append(names, name)
	}
	for _, name := range names {
		if name == "settings.json" {
			continue
		}
		err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
