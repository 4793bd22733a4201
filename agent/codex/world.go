package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
	"orchestrator/thread/outward"
	"orchestrator/thread/pattern"
)

// systemDir is where organisations put their configuration.
const systemDir = "/etc/codex"

// plain matches the provider names that can be used in a -c override.
var plain = pattern.Lazy(`^[A-Za-z0-9_-]+$`)

// config is what Codex would read: the tables of its files and arguments, merged. A repository's own configuration is
// left out, because Codex takes nothing from it that says where requests go.
type config struct {
	all      map[string]any
	provider string
	// managed is what the organisation decides, which outranks even what we pass, and from the path of the file.
	managed map[string]any
	from    string
	// ownRoots is set if the person configured where the sandbox may write.
	ownRoots bool
}

// readConfig reads Codex's configuration in its order, in which later ones win: the organisation's file, the person's,
// that of the profile, arguments, what the organisation decides.
func readConfig(env launch.Env, args []string) (config, error) {
	c := config{all: map[string]any{}, managed: map[string]any{}}
	overrides, profile := ownArguments(args)
	paths := []string{filepath.Join(systemDir, "config.toml"), filepath.Join(home(env), "config.toml")}
	if profile != "" {
		paths = append(paths, filepath.Join(home(env), profile+".config.toml"))
	}
	for _, path := range paths {
		one, raw, err := readTOML(path)
		if err != nil {
			return c, err
		}
		c.ownRoots = c.ownRoots || namesRoots(raw)
		merge(c.all, one)
	}
	for _, one := range overrides {
		merge(c.all, one)
	}
	if profile == "" {
		profile, _ = c.all["profile"].(string)
	}
	merge(c.all, table(table(c.all, "profiles"), profile)) // as Codex did before profiles had files
	for _, name := range []string{"managed_config.toml", "requirements.toml"} {
		path := filepath.Join(systemDir, name)
		one, _, err := readTOML(path)
		if err != nil {
			return c, err
		}
		if name == "requirements.toml" { // of what matters here, it has only the provider
			one = map[string]any{"model_provider": one["model_provider"], "model_providers": one["model_providers"]}
		}
		for key, v := range one {
			if v != nil {
				merge(c.managed, map[string]any{key: v})
				c.from = path
			}
		}
	}
	merge(c.all, c.managed)
	c.provider = "openai"
	if p, _ := c.all["model_provider"].(string); p != "" {
		c.provider = p
	}
	if oss, local := localProvider(args); oss {
		if c.provider = local; local == "" {
			c.provider = text(c.all, "oss_provider")
		}
	}
	return c, nil
}

// localProvider reports whether arguments ask for a model on this machine, and the provider that they name, "" for none.
func localProvider(args []string) (oss bool, provider string) {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		const flag = "--local-provider"
		if value, ok := strings.CutPrefix(args[i], flag+"="); ok {
			provider = value
		} else if args[i] == flag && i+1 < len(args) {
			i++
			provider = args[i]
		}
		oss = oss || args[i] == "--oss"
	}
	return oss, provider
}

// remoteServer reports whether arguments name a server elsewhere that asks the model.
func remoteServer(args []string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if a == "--remote" || strings.HasPrefix(a, "--remote=") {
			return true
		}
	}
	return false
}

// readTOML reads a file of Codex; an empty table if there is none.
func readTOML(path string) (map[string]any, []byte, error) {
	raw, _, err := world.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, raw, nil
	}
	var all map[string]any
	if err := toml.Unmarshal(raw, &all); err != nil {
		return nil, nil, world.Unreadable(path, fmt.Errorf("not valid TOML: %w", err))
	}
	return all, raw, nil
}

// ownArguments returns the tables of the person's -c overrides, in order, and the profile that they name.
func ownArguments(args []string) (overrides []map[string]any, profile string) {
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		for _, flag := range []struct{ short, long string }{{"-c", "--config"}, {"-p", "--profile"}} {
			value, ok := strings.CutPrefix(args[i], flag.long+"=")
			switch {
			case ok:
			case (args[i] == flag.short || args[i] == flag.long) && i+1 < len(args):
				i++
				value, ok = args[i], true
			case strings.HasPrefix(args[i], flag.short) && !strings.HasPrefix(args[i], "--"):
				value, ok = strings.TrimPrefix(strings.TrimPrefix(args[i], flag.short), "="), true
			}
			if !ok {
				continue
			}
			if flag.short == "-p" {
				profile = value
			} else if one := override(value); one != nil {
				overrides = append(overrides, one)
			}
			break
		}
	}
	return overrides, profile
}

// override reads one override, whose value is TOML or otherwise a string.
func override(arg string) map[string]any {
	key, value, ok := strings.Cut(arg, "=")
	if !ok {
		return nil
	}
	var v any = strings.Trim(strings.TrimSpace(value), `"'`)
	var parsed map[string]any
	if err := toml.Unmarshal([]byte("v = "+value), &parsed); err == nil {
		v = parsed["v"]
	}
	names := strings.Split(strings.TrimSpace(key), ".")
	for n := len(names) - 1; n >= 0; n-- {
		v = map[string]any{strings.Trim(names[n], `"'`): v}
	}
	one, _ := v.(map[string]any)
	return one
}

// merge adds one table to another; what it says wins.
func merge(to, from map[string]any) {
	for key, v := range from {
		inner, ok := v.(map[string]any)
		if was, both := to[key].(map[string]any); ok && both {
			merge(was, inner)
			continue
		}
		if ok { // a table of its own: what is merged into it later stays here
			inner, v = v.(map[string]any), map[string]any{}
			merge(v.(map[string]any), inner)
		}
		to[key] = v
	}
}

func text(from map[string]any, key string) string { s, _ := from[key].(string); return s }

func table(from map[string]any, key string) map[string]any {
	m, _ := from[key].(map[string]any)
	return m
}

// window is model_context_window, 0 if it is not set.
func (c config) window() int64 {
	n, _ := c.all["model_context_window"].(int64)
	return n
}

// loginShell reports whether the person configured whether commands run in a login shell.
func (c config) loginShell() bool {
	_, ok := c.all["allow_login_shell"]
	return ok
}

// login is how the person is logged in, account the name of who pays, "" if that is not known.
type login struct {
	chatGPT, unknown bool
	account          string
}

// loginOf reads whether the person is logged in with a ChatGPT account. It only checks whether tokens exist, and names
// the account.
func loginOf(env launch.Env, c config) (login, error) {
	var auth struct {
		Mode   string          `json:"auth_mode"`
		Key    json.RawMessage `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	found, err := world.ReadJSON(filepath.Join(home(env), "auth.json"), &auth)
	if err != nil {
		return login{}, err
	}
	store := text(c.all, "cli_auth_credentials_store")
	if !found && (store == "keyring" || store == "auto") {
		return login{unknown: true}, nil
	}
	set := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" && string(raw) != `""` }
	in := login{chatGPT: set(auth.Tokens) && !set(auth.Key)}
	if auth.Mode != "" {
		in.chatGPT = strings.EqualFold(auth.Mode, "chatgpt")
	}
	in.account = accountIn(in.chatGPT, auth.Key, auth.Tokens)
	return in, nil
}

// accountIn names who pays by what is in auth.json: tokens name the account that they are of.
func accountIn(chatGPT bool, key, tokens json.RawMessage) string {
	if !chatGPT {
		return thread.AccountName(thread.AccountKey, word(key))
	}
	var of struct {
		Account json.RawMessage `json:"account_id"`
	}
	if json.Unmarshal(tokens, &of) != nil {
		return ""
	}
	return thread.AccountName(thread.AccountLogin, word(of.Account))
}

// word returns a JSON string, "" for anything else.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// address returns the base URL that Codex would use, or why requests cannot be sent elsewhere.
func (c config) address(env launch.Env) (base, aside string, err error) {
	switch c.provider {
	case "openai":
		if base := text(c.all, "openai_base_url"); base != "" {
			return base, "", nil
		}
		in, err := loginOf(env, c)
		switch {
		case err != nil:
			return "", "", err
		case in.unknown:
			return "", "its login is in the system's keyring, and where its model is depends on it", nil
		case !in.chatGPT:
			return openAI, "", nil
		}
		if base := text(c.all, "chatgpt_base_url"); base != "" {
			return strings.TrimRight(base, "/") + "/codex", "", nil
		}
		return chatGPT, "", nil
	case "ollama", "lmstudio":
		if base := env.Value(ossURL); base != "" {
			return base, "", nil
		}
		port := env.Value(ossPort)
		switch {
		case port != "":
			return "http://localhost:" + port + "/v1", "", nil
		case c.provider == "lmstudio":
			return studio, "", nil
		}
		return ollama, "", nil
	}
	base = text(table(table(c.all, "model_providers"), c.provider), "base_url")
	if base == "" || !plain().MatchString(c.provider) {
		return "", fmt.Sprintf("its provider %q has no address that can be replaced", c.provider), nil
	}
	return base, "", nil
}

// outranked returns why the organisation's configuration would keep requests from reaching the gateway, "" if it does
// not.
func (c config) outranked() string {
	_, fixed := c.managed["openai_base_url"]
	if c.provider != "openai" {
		_, fixed = table(table(c.managed, "model_providers"), c.provider)["base_url"]
	}
	if fixed {
		return c.from + " says where its model is, and nothing outranks it"
	}
	if runtime.GOOS == "darwin" {
		const policy = "/Library/Managed Preferences/com.openai.codex.plist"
		if _, ok, err := world.Read(policy); ok || err != nil {
			return policy + " may say where its model is, and nothing outranks it"
		}
	}
	return ""
}

// World implements thread.Agent. The addresses lack the API version: requests keep that in their path.
func (a *Agent) World(spec thread.WorldSpec) (thread.World, error) {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	c, err := readConfig(env, spec.Flags.Args)
	if err != nil {
		return thread.World{}, err
	}
	w := thread.World{Network: outward.Of(env)}
	if ca := env.Value("CODEX_CA_CERTIFICATE"); ca != "" {
		w.Network.Roots = append(w.Network.Roots, ca)
	}
	if n := c.window(); n > 0 {
		w.Windows = map[string]int64{"*": n} // it applies to every model
	}
	base, aside, err := c.address(env)
	if err != nil {
		return thread.World{}, err
	}
	switch {
	case aside != "":
	case remoteServer(spec.Flags.Args):
		aside = "it works with a server elsewhere (--remote), which asks the model"
	default:
		aside = c.outranked()
	}
	if w.Aside = aside; aside == "" {
		root, _ := launch.SplitVersion(base, "/v1")
		w.Upstreams = map[string]string{"": root}
	}
	return w, nil
}

// The variables that put a thread's secret into requests. OPENAI_ORGANIZATION becomes a header of Codex's own provider,
// whose headers cannot be configured otherwise.
const (
	ossURL       = "CODEX_OSS_BASE_URL" // accepts an address only
	ossPort      = "CODEX_OSS_PORT"
	organisation = "OPENAI_ORGANIZATION"
	secretVar    = "ORCHESTRATOR_GATEWAY_SECRET"
	secretHeader = "X-Orchestrator-Secret"
)

// viaGateway returns the overrides and the environment that send requests to the gateway. Overrides appear in the
// arguments, and addresses in error messages, so the secret is sent as a header.
func (c config) viaGateway(env launch.Env, baseURL string) ([]string, launch.Env, error) {
	base, _, err := c.address(env)
	if err != nil {
		return nil, nil, err
	}
	_, version := launch.SplitVersion(base, "/v1")
	open, mark := thread.PublicURL(baseURL)
	switch {
	case c.provider == "openai":
		args := []string{"-c", "openai_base_url=" + quote(open+version)}
		if mark == "" {
			return args, env, nil
		}
		own := env.Value(organisation)
		// Commands of the agent get the person's own value: another Codex started by it would send ours.
		args = append(args, setForCommands(organisation, own)...)
		if own != "" {
			mark += ";" + own
		}
		return args, env.With(organisation, mark), nil
	case c.provider == "ollama" || c.provider == "lmstudio":
		return setForCommands(ossURL, env.Value(ossURL)), env.With(ossURL, baseURL+version), nil
	case plain().MatchString(c.provider):
		key := "model_providers." + c.provider
		args := []string{"-c", key + ".base_url=" + quote(open+version)}
		if mark == "" {
			return args, env, nil
		}
		args = append(args, "-c", key+".env_http_headers."+secretHeader+"="+quote(secretVar))
		return append(args, setForCommands(secretVar, "")...), env.With(secretVar, mark), nil
	default:
		return nil, env, nil
	}
}

// setForCommands returns arguments that set a variable for the agent's commands. Codex writes the variables that
// commands inherit to a file that others may read (0644, with shell_snapshot).
func setForCommands(variable, value string) []string {
	return []string{"-c", "shell_environment_policy.set." + variable + "=" + quote(value)}
}
