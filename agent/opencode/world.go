package opencode

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"syscall"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
	"orchestrator/thread/outward"
)

// config are the fields of the configuration that are read.
type config struct {
	Model    string                    `json:"model"`
	Provider map[string]configProvider `json:"provider"`
}

type configProvider struct {
	API     string `json:"api"` // the address, if the options have none
	Options struct {
		BaseURL string `json:"baseURL"`
		Key     string `json:"apiKey"`
	} `json:"options"`
	Models map[string]configModel `json:"models"`

	// folder is that of the file that has the address, keyFolder that of the one that has the key.
	folder, keyFolder string
}

type configModel struct {
	ID       string `json:"id"` // the name in requests; the key if empty
	Provider struct {
		API string `json:"api"`
	} `json:"provider"`
	Limit struct {
		Context int64 `json:"context"`
	} `json:"limit"`
}

// fixed are the providers whose addresses the organisation decides, with the path of the file: nothing outranks it.
type fixed map[string]string

// managedDir is where organisations put their configuration.
func managedDir(env launch.Env) string {
	if dir := env.Value("OPENCODE_TEST_MANAGED_CONFIG_DIR"); dir != "" {
		return dir
	}
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/opencode"
	}
	return "/etc/opencode"
}

// userFiles returns the person's own configuration files; later ones win.
func userFiles(env launch.Env) []string {
	var paths []string
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		paths = append(paths, filepath.Join(xdg(env, "XDG_CONFIG_HOME", ".config"), name))
	}
	if path := env.Value("OPENCODE_CONFIG"); path != "" {
		paths = append(paths, path)
	}
	return paths
}

// projectFiles returns the configuration files of a folder and of those above it in its repository; later ones win.
func projectFiles(dir string) []string {
	root, _ := world.Repository(dir)
	var files, folders []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		files = append([]string{filepath.Join(at, "opencode.json"), filepath.Join(at, "opencode.jsonc")}, files...)
		folders = append(folders, filesIn(filepath.Join(at, ".opencode"))...)
		if at == root || at == filepath.Dir(at) {
			return append(files, folders...)
		}
	}
}

func filesIn(folder string) []string {
	return []string{filepath.Join(folder, "opencode.json"), filepath.Join(folder, "opencode.jsonc")}
}

// look reads the configuration in opencode's order, in which later ones win: the person's files, the project's unless
// dir is "", the person's folders, the variable, the organisation's.
func look(env launch.Env, dir string) (config, fixed, error) {
	var all config
	paths := userFiles(env)
	if on := strings.ToLower(env.Value("OPENCODE_DISABLE_PROJECT_CONFIG")); dir != "" && on != "1" && on != "true" {
		paths = append(paths, projectFiles(dir)...)
	}
	paths = append(paths, filesIn(filepath.Join(env.Home(), ".opencode"))...)
	if folder := env.Value("OPENCODE_CONFIG_DIR"); folder != "" {
		paths = append(paths, filesIn(folder)...)
	}
	for _, path := range paths {
		var one config
		if _, err := world.ReadJSONC(path, &one); err != nil {
			return all, nil, err
		}
		all.add(one, filepath.Dir(path))
	}
	if content := env.Value("OPENCODE_CONFIG_CONTENT"); content != "" {
		var one config
		if err := json.Unmarshal(launch.StripComments([]byte(content)), &one); err != nil {
			return all, nil, fmt.Errorf("read OPENCODE_CONFIG_CONTENT: %w", err)
		}
		all.add(one, dir)
	}
	decided := fixed{}
	for _, path := range filesIn(managedDir(env)) {
		var one config
		if _, err := world.ReadJSONC(path, &one); err != nil {
			return all, nil, err
		}
		all.add(one, filepath.Dir(path))
		for id, p := range one.Provider {
			if p.Options.BaseURL != "" {
				decided[id] = path
			}
		}
	}
	return all, decided, nil
}

// add adds a file; what it says wins.
func (c *config) add(one config, folder string) {
	c.Model = cmp.Or(one.Model, c.Model)
	for id, p := range one.Provider {
		if c.Provider == nil {
			c.Provider = map[string]configProvider{}
		}
		was := c.Provider[id]
		if p.Options.BaseURL != "" || p.API != "" {
			was.folder = folder
		}
		if p.Options.Key != "" {
			was.Options.Key, was.keyFolder = p.Options.Key, folder
		}
		was.API, was.Options.BaseURL = cmp.Or(p.API, was.API), cmp.Or(p.Options.BaseURL, was.Options.BaseURL)
		models := maps.Clone(was.Models)
		for key, m := range p.Models {
			if models == nil {
				models = map[string]configModel{}
			}
			old := models[key]
			old.ID, old.Limit.Context = cmp.Or(m.ID, old.ID), cmp.Or(m.Limit.Context, old.Limit.Context)
			old.Provider.API = cmp.Or(m.Provider.API, old.Provider.API)
			models[key] = old
		}
		was.Models = models
		c.Provider[id] = was
	}
}

// windows returns the limit.context of the configured models.
func (c config) windows() map[string]int64 {
	var all map[string]int64
	for _, p := range c.Provider {
		for key, m := range p.Models {
			if m.Limit.Context <= 0 {
				continue
			}
			if all == nil {
				all = map[string]int64{}
			}
			all[cmp.Or(m.ID, key)] = m.Limit.Context
		}
	}
	return all
}

// login is how the person is logged in to a provider, account the name of who pays, "" if that is not known. The
// credentials beside it are not kept.
type login struct{ kind, account string }

// logins returns the providers that the person is logged in to.
func logins(env launch.Env) (map[string]login, error) {
	var auth map[string]struct {
		Type    string `json:"type"`
		Key     string `json:"key"`
		Account string `json:"accountId"`
	}
	content := env.Value("OPENCODE_AUTH_CONTENT")
	if content == "" || json.Unmarshal([]byte(content), &auth) != nil { // one that is not JSON is no login
		if _, err := world.ReadJSON(filepath.Join(xdg(env, "XDG_DATA_HOME", ".local/share"), "auth.json"), &auth); err != nil {
			return nil, err
		}
	}
	all := map[string]login{}
	for id, a := range auth {
		in := login{kind: a.Type}
		switch a.Type {
		case "api":
			in.account = thread.AccountName(thread.AccountKey, a.Key)
		case "oauth":
			in.account = thread.AccountName(thread.AccountLogin, a.Account)
		}
		all[id] = in
	}
	return all, nil
}

// bases returns the base URLs of the providers that the person uses and that can go through a gateway, by provider.
// Logins by OAuth are left out: their plugins choose the address themselves. So are addresses with placeholders that
// are not known here, and providers whose models live at several addresses.
func bases(env launch.Env, c config, decided fixed) (map[string]string, error) {
	all := map[string]string{}
	in, err := logins(env)
	if err != nil {
		return nil, err
	}
	for id, p := range known {
		_, configured := c.Provider[id]
		keyed := slices.ContainsFunc(p.keys, func(k string) bool { return env.Value(k) != "" })
		if configured || keyed || in[id].kind == "api" {
			all[id] = cmp.Or(env.Value(p.address), p.base)
		}
	}
	for id, p := range c.Provider {
		if base := cmp.Or(p.Options.BaseURL, p.API); base != "" {
			all[id], err = fill(env, base, p.folder)
			if err != nil {
				return nil, err
			}
		}
		for _, m := range p.Models {
			if m.Provider.API != "" && p.Options.BaseURL == "" {
				delete(all, id)
			}
		}
	}
	for id, base := range all {
		if in[id].kind == "oauth" || !plain().MatchString(id) || decided[id] != "" || strings.ContainsAny(base, "{}$") {
			delete(all, id)
		}
	}
	return all, nil
}

// fill replaces the placeholders of an address: variables and files, whose paths are relative to the file that has it.
func fill(env launch.Env, base, folder string) (string, error) {
	var out strings.Builder
	for {
		before, after, ok := strings.Cut(base, "{")
		out.WriteString(before)
		if !ok {
			return out.String(), nil
		}
		name, rest, closed := strings.Cut(after, "}")
		variable, isVariable := strings.CutPrefix(name, "env:")
		file, isFile := strings.CutPrefix(name, "file:")
		switch {
		case closed && isVariable:
			out.WriteString(env.Value(variable))
		case closed && isFile:
			if below, ok := strings.CutPrefix(file, "~/"); ok {
				file = filepath.Join(env.Home(), below)
			} else if !filepath.IsAbs(file) {
				file = filepath.Join(folder, file)
			}
			raw, found, err := world.Read(file)
			if err == nil && !found {
				err = world.Unreadable(file, os.ErrNotExist)
			}
			if err != nil {
				return "", err
			}
			out.WriteString(strings.TrimSpace(string(raw)))
		default:
			out.WriteString("{")
			rest = after
		}
		base = rest
	}
}

// fetched is why requests of somebody who works for an organisation are left alone.
const fetched = "its organisation's configuration, which it fetches, may say where its model is"

// inOrganisation reports whether the person is signed in to opencode's console and has chosen an organisation there.
func inOrganisation(env launch.Env) (bool, error) {
	path := database(env)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a file")
	}
	if err != nil {
		return false, world.Unreadable(path, err)
	}
	if info.Size() == 0 {
		return false, nil // opencode is just making it
	}
	db, err := open(path)
	if err != nil {
		return false, world.Unreadable(path, err)
	}
	defer db.Close()
	var tables, chosen int
	err = db.QueryRow(`SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'account_state'`).Scan(&tables)
	if err == nil && tables > 0 {
		err = db.QueryRow(`SELECT count(*) FROM account_state WHERE coalesce(active_org_id, '') <> ''`).Scan(&chosen)
	}
	if err != nil {
		return false, world.Unreadable(path, err)
	}
	return chosen > 0, nil
}

// World implements thread.Agent.
func (a *Agent) World(spec thread.WorldSpec) (thread.World, error) {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	dir := spec.Dir
	if spec.Closed {
		dir = ""
	}
	c, decided, err := look(env, dir)
	if err != nil {
		return thread.World{}, err
	}
	w := thread.World{Windows: c.windows(), Network: outward.Of(env)}
	in, err := logins(env)
	if err != nil {
		return thread.World{}, err
	}
	for _, l := range in {
		if l.kind == "wellknown" {
			w.Aside = fetched
			return w, nil
		}
	}
	if in, err := inOrganisation(env); err != nil {
		return thread.World{}, err
	} else if in {
		w.Aside = fetched
		return w, nil
	}
	addresses, err := bases(env, c, decided)
	if err != nil {
		return thread.World{}, err
	}
	if spec.Closed {
		if err := a.sameOpened(spec, addresses); err != nil {
			return thread.World{}, err
		}
	}
	main, _, _ := strings.Cut(cmp.Or(modelOf(spec), c.Model), "/")
	switch {
	case decided[main] != "":
		w.Aside = decided[main] + " says where its model is, and nothing outranks it"
	case len(addresses) == 0 && len(decided) > 0:
		w.Aside = slices.Sorted(maps.Values(decided))[0] + " says where its model is, and nothing outranks it"
	case len(addresses) == 0:
		w.Aside = "none of its providers has an address that can be replaced"
	}
	if w.Aside != "" {
		return w, nil
	}
	w.Upstreams = map[string]string{}
	var names []string
	for id, base := range addresses {
		w.Upstreams[id], _ = launch.SplitVersion(base, versions...)
		names = append(names, id)
	}
	sort.Strings(names)
	if _, ok := w.Upstreams[main]; !ok {
		main = names[0]
	}
	w.Upstreams[""] = w.Upstreams[main]
	return w, nil
}

// modelOf is the model that an agent is started with, "" if that is its own choice.
func modelOf(spec thread.WorldSpec) string {
	model := spec.Model
	for i, arg := range spec.Flags.Args {
		if value, ok := strings.CutPrefix(arg, "--model="); ok {
			model = value
		} else if (arg == "--model" || arg == "-m") && i+1 < len(spec.Flags.Args) {
			model = spec.Flags.Args[i+1]
		}
	}
	return model
}

// sameOpened refuses an agent that does not read the repository's configuration if that would send its requests
// elsewhere: the person's credentials may be meant for there.
func (a *Agent) sameOpened(spec thread.WorldSpec, addresses map[string]string) error {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	opened, decided, err := look(env, spec.Dir)
	if err != nil {
		return err
	}
	there, err := bases(env, opened, decided)
	if err != nil || maps.Equal(there, addresses) {
		return err
	}
	return thread.Hint(fmt.Errorf("the repository's configuration of opencode says where its model is, and is not read before you "+
		"accept the MCP servers in it: %w", thread.ErrRefused), "look at them with `orchestrator mcp`, and accept or remove them")
}
