package gemini

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
)

// The trust levels of folders, as Gemini CLI stores them.
const (
	trustFolder = "TRUST_FOLDER"
	trustParent = "TRUST_PARENT"
	doNotTrust  = "DO_NOT_TRUST"
)

// The variables that control folder trust.
const (
	trustVar   = "GEMINI_CLI_TRUST_WORKSPACE"
	foldersVar = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"
)

// Our files in the state folder.
const (
	foldersFile = "gemini-trusted-folders.json"
	policyFile  = "gemini-policy.toml"
)

// trustedFolders reads the person's decisions: the trust level by folder.
func trustedFolders(env launch.Env) map[string]string {
	path := env.Value(foldersVar)
	if path == "" {
		path = filepath.Join(home(env), "trustedFolders.json")
	}
	var folders map[string]string
	if launch.ReadJSONC(path, &folders) != nil {
		return nil // Gemini CLI itself reports a broken file
	}
	return folders
}

// trustOf returns the person's decision about a folder, as Gemini CLI applies it: trustFolder, doNotTrust, or "" if it
// asks.
func trustOf(env launch.Env, dir string) string {
	switch {
	case env.Value("GEMINI_RESTRICTED_MODE") == "true", env.Value(trustVar) == "false":
		return doNotTrust
	case env.Value(trustVar) == "true", !asksForTrust(env):
		return trustFolder
	}
	level, longest := "", -1
	dir = realPath(dir)
	for folder, said := range trustedFolders(env) {
		within := folder
		if said == trustParent {
			within = filepath.Dir(folder)
		}
		rel, err := filepath.Rel(realPath(within), dir)
		if err != nil || !filepath.IsLocal(rel) || len(folder) <= longest {
			continue
		}
		longest, level = len(folder), trustFolder
		if said == doNotTrust {
			level = doNotTrust
		}
	}
	return level
}

// asksForTrust reports whether Gemini CLI asks about folders at all.
func asksForTrust(env launch.Env) bool {
	enabled := leniently(env).Security.Trust.Enabled
	return enabled == nil || *enabled
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// folders returns the arguments and the environment that let ReadDirs be read without asking, and give a worktree of
// ours the same trust as the folder that it is a copy of. The person's own file is only read: if something has to be
// added, a copy of ours replaces it for this launch. For a folder without a decision, the dialog appears as usual, and
// the answer is written to the person's own file. The tools in out are taken out of what the model is offered.
func folders(env launch.Env, spec thread.LaunchSpec, out less) ([]string, launch.Env, error) {
	level := trustOf(env, spec.Dir)
	added := map[string]string{}
	if level == "" && spec.Origin != "" {
		if level = trustOf(env, spec.Origin); level != "" {
			added[spec.Dir] = level
		}
	}
	args, err := policy(env, spec, level == trustFolder, out)
	if err != nil {
		return nil, nil, err
	}
	if level == trustFolder {
		for _, dir := range spec.ReadDirs {
			if strings.Contains(dir, ",") {
				continue // would be split into two
			}
			args = append(args, "--include-directories", dir)
			if asksForTrust(env) {
				added[dir] = trustFolder // otherwise it asks whether to add the folder
			}
		}
	}
	if len(added) == 0 {
		return args, env, nil
	}
	all := map[string]string{}
	maps.Copy(all, trustedFolders(env))
	maps.Copy(all, added)
	path, err := launch.WriteFile(spec.StateDir, foldersFile, all)
	if err != nil {
		return nil, nil, err
	}
	return args, env.With(foldersVar, path), nil
}

// policy writes the rules that let the shell print files of ReadDirs, keep the file tools from writing there, and take
// tools out of what the model is offered. It returns the arguments that load them in addition to those that would be in
// force without: of the person's tier, Gemini CLI loads only what --policy names. It loads the others by itself.
func policy(env launch.Env, spec thread.LaunchSpec, trusted bool, out less) ([]string, error) {
	if len(spec.ReadDirs)+len(out.tools)+len(out.never) == 0 && !out.idle {
		return nil, nil
	}
	var rules strings.Builder
	for _, dir := range spec.ReadDirs {
		pattern := regexp.QuoteMeta(dir)
		// A plain name ends the command: nothing can be appended to it, and ".." is not matched.
		fmt.Fprintf(&rules,
			"[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = %s\ndecision = \"allow\"\npriority = 500\n\n",
			quote("cat "+pattern+`/[A-Za-z0-9_/-]+[.]?[A-Za-z0-9_/-]+"`))
		fmt.Fprintf(&rules, "[[rule]]\ntoolName = [\"write_file\", \"replace\"]\nargsPattern = %s\n"+
			"decision = \"deny\"\npriority = 900\ndenyMessage = \"It may only be read.\"\n\n", quote(pattern))
	}
	deny := func(tools []string, priority int) {
		for _, tool := range tools { // one that no argument can change is not offered
			fmt.Fprintf(&rules, "[[rule]]\ntoolName = %s\ndecision = \"deny\"\npriority = %d\n\n", quote(tool), priority)
		}
	}
	deny(out.tools, 900)
	deny(out.never, 999) // above what the person has allowed for always
	if out.own {
		rules.WriteString("[[rule]]\ntoolName = \"*\"\nmcpName = \"*\"\ndecision = \"deny\"\npriority = 998\n\n")
	}
	if out.idle { // a rule about arguments takes no tool out of the request
		for _, of := range []string{"", "mcpName = \"*\"\n"} {
			fmt.Fprintf(&rules, "[[rule]]\ntoolName = \"*\"\n%sargsPattern = \".*\"\ndecision = \"deny\"\npriority = 999\n"+
				"denyMessage = \"No calls are left: report what is done, and what is missing.\"\n\n", of)
		}
		out.server = ""
	}
	if out.server != "" {
		for _, tool := range thread.MCPOwnTools(spec.Once) {
			fmt.Fprintf(&rules, "[[rule]]\ntoolName = %s\ndecision = \"allow\"\npriority = 999\n\n",
				quote("mcp_"+out.server+"_"+tool))
		}
	}
	path, err := launch.WriteFile(spec.StateDir, policyFile, []byte(rules.String()))
	if err != nil {
		return nil, err
	}
	var args []string
	own := func(arg string) bool { return arg == "--policy" || strings.HasPrefix(arg, "--policy=") }
	if !slices.ContainsFunc(spec.Flags.Args, own) {
		for _, p := range policyPaths(env, spec.Dir, trusted) {
			args = append(args, "--policy", p)
		}
	}
	return append(args, "--policy", path), nil
}

// policyPaths returns the policies of the person's tier: all that any settings name, those of a folder only if it is
// trusted, otherwise the person's folder for them.
func policyPaths(env launch.Env, dir string, trusted bool) []string {
	if !trusted {
		dir = ""
	}
	var all []string
	for _, file := range settingsFiles(env, dir) {
		var s settings
		if _, err := world.ReadJSONC(file, &s); err != nil {
			continue // Gemini CLI itself reports it
		}
		for _, p := range s.Policies {
			// Its home may be a copy of ours.
			if p == "~" || strings.HasPrefix(p, "~/") {
				p = filepath.Join(filepath.Dir(home(env)), strings.TrimPrefix(p, "~"))
			}
			if p != "" && !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	if len(all) == 0 {
		all = []string{filepath.Join(home(env), "policies")}
	}
	return all
}

// quote encodes a string as TOML, which accepts JSON strings.
func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("gemini: " + err.Error()) // strings can always be marshalled
	}
	return string(raw)
}

// ConfigFiles returns the files of a project that configure Gemini CLI.
func (a *Agent) ConfigFiles() []string { return []string{"GEMINI.md", ".gemini/", ".env"} }

// LocalFiles returns those that the person may keep out of git; one may contain the API key.
func (a *Agent) LocalFiles() []string {
	return []string{"GEMINI.md", ".env", ".gemini/.env", ".gemini/settings.json"}
}
