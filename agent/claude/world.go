package claude

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
	"orchestrator/thread/outward"
)

// settings are the fields of a settings file that are read.
type settings struct {
	Env map[string]any `json:"env"`
	// Gateway is where the organisation has people sign in, and where their requests go then.
	Gateway string `json:"forceLoginGatewayUrl"`
	// Helper is a command that prints the key.
	Helper string `json:"apiKeyHelper"`
	// Fetched are the settings in a file that Claude Code has fetched.
	Fetched *settings `json:"settings"`
}

// surroundings are the settings that Claude Code would read in a folder.
type surroundings struct {
	// env is the environment as Claude Code sees it: variables in its settings outrank it.
	env launch.Env
	// strange is env without the settings of the folder, if the person has not said whether they trust it.
	strange launch.Env
	// managed are the variables of the organisation's settings, which outrank even those that we pass, and from the path
	// of the file.
	managed map[string]any
	from    string
	// gateway is set if settings have the person sign in to a gateway.
	gateway bool
	// helper is set if settings name a command that prints the key; account is whom the person signed in as.
	helper  bool
	account string
}

// configDir is Claude Code's own folder.
func configDir(env launch.Env) string {
	if dir := env.Value("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(env.Home(), ".claude")
}

// stateFile is the file with what Claude Code remembers, among it the person's variables and the folders they trust.
func stateFile(env launch.Env) string {
	if dir := env.Value("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(env.Home(), ".claude.json")
}

// state are the fields of the state file that are read.
type state struct {
	Env      map[string]any `json:"env"`
	Projects map[string]struct {
		Trusted bool `json:"hasTrustDialogAccepted"`
	} `json:"projects"`
	Login struct {
		Account string `json:"accountUuid"`
	} `json:"oauthAccount"`
}

// look reads Claude Code's settings in its order, in which later ones win: its state, the person's, the project's, the
// person's own for the project, those of its arguments, the organisation's.
func look(spec thread.WorldSpec) (surroundings, error) {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	s := surroundings{env: env}
	var known state
	if _, err := world.ReadJSON(stateFile(env), &known); err != nil {
		return s, err
	}
	s.env, s.account = world.Adding(s.env, known.Env), known.Login.Account
	sources := settingSources(spec.Flags.Args)
	read := func(path string) (map[string]any, error) {
		var one settings
		_, err := world.ReadJSON(path, &one)
		s.gateway = s.gateway || one.Gateway != "" || one.Fetched != nil && one.Fetched.Gateway != ""
		s.helper = s.helper || one.Helper != "" || one.Fetched != nil && one.Fetched.Helper != ""
		if one.Fetched != nil && one.Env == nil {
			one.Env = one.Fetched.Env
		}
		return one.Env, err
	}
	if slices.Contains(sources, "user") {
		own, err := read(filepath.Join(configDir(env), "settings.json"))
		if err != nil {
			return s, err
		}
		s.env = world.Adding(s.env, own)
	}
	s.strange = s.env
	for _, path := range projectFiles(spec.Dir, sources) {
		own, err := read(path)
		if err != nil {
			return s, err
		}
		s.env = world.Adding(s.env, own)
	}
	_, flag, err := ownSettings(spec.Dir, spec.Flags.Args)
	if err != nil {
		return s, err
	}
	passed, _ := flag["env"].(map[string]any)
	s.helper = s.helper || flag["apiKeyHelper"] != nil && flag["apiKeyHelper"] != ""
	if err := s.readManaged(env, read); err != nil {
		return s, err
	}
	for _, more := range []map[string]any{passed, s.managed} {
		s.env, s.strange = world.Adding(s.env, more), world.Adding(s.strange, more)
	}
	if known.trusts(env, spec.Dir) || spec.Origin != "" && known.trusts(env, spec.Origin) {
		s.strange = s.env
	}
	return s, nil
}

// lookAs is look for an agent with or without a terminal, which reads less of the repository.
func lookAs(spec thread.WorldSpec) (surroundings, error) {
	if spec.Once {
		spec.Flags.Args = append(slices.Clone(spec.Flags.Args), personal(spec.Flags.Args))
	}
	return look(spec)
}

// settingSources are the kinds of files that Claude Code reads settings from.
func settingSources(args []string) []string {
	sources := []string{"user", "project", "local"}
	for i, arg := range args {
		value, ok := strings.CutPrefix(arg, "--setting-sources=")
		if !ok && arg == "--setting-sources" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if ok {
			sources = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return sources
}

// personal returns the argument that leaves of the kinds of files only the person's, which the arguments may leave out, too.
func personal(args []string) string {
	const option = "--setting-sources="
	if slices.Contains(settingSources(args), "user") {
		return option + "user"
	}
	return option
}

// projectFiles returns a folder's settings. The person's own ones for a project are found in its main working tree too.
func projectFiles(dir string, sources []string) []string {
	var all []string
	if slices.Contains(sources, "project") {
		all = append(all, filepath.Join(dir, ".claude", "settings.json"))
	}
	if slices.Contains(sources, "local") {
		const local = ".claude/settings.local.json"
		if _, main := world.Repository(dir); main != "" && main != dir {
			all = append(all, filepath.Join(main, local))
		}
		all = append(all, filepath.Join(dir, local))
	}
	return all
}

// trusts reports whether the person trusts a folder: it, its repository, or a folder between the two.
func (k state) trusts(env launch.Env, dir string) bool {
	if env.Value("CLAUDE_CODE_SANDBOXED") != "" {
		return true
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir && k.trustsPath(real) {
		return true
	}
	return k.trustsPath(dir)
}

func (k state) trustsPath(dir string) bool {
	root, main := world.Repository(dir)
	if k.Projects[main].Trusted {
		return true
	}
	for at := dir; ; at = filepath.Dir(at) {
		if k.Projects[at].Trusted {
			return true
		}
		if at == root || at == filepath.Dir(at) {
			return false
		}
	}
}

// managedDir is where organisations put their settings.
func managedDir(env launch.Env) string {
	if dir := env.Value("CLAUDE_CODE_MANAGED_SETTINGS_PATH"); dir != "" {
		return dir
	}
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/ClaudeCode"
	}
	return "/etc/claude-code"
}

// readManaged reads the organisation's settings: its file, the files beside it in the order of their names, and those
// that Claude Code has fetched.
func (s *surroundings) readManaged(env launch.Env, read func(string) (map[string]any, error)) error {
	paths := []string{filepath.Join(managedDir(env), "managed-settings.json")}
	dropIns := filepath.Join(managedDir(env), "managed-settings.d")
	entries, err := os.ReadDir(dropIns)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("read the organisation's settings: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			paths = append(paths, filepath.Join(dropIns, e.Name()))
		}
	}
	paths = append(paths, filepath.Join(configDir(env), "remote-settings.json"))
	if path := env.Value("CLAUDE_CODE_REMOTE_SETTINGS_PATH"); path != "" {
		paths = append(paths, path)
	}
	for _, path := range paths {
		own, err := read(path)
		if err != nil {
			return err
		}
		if len(own) == 0 {
			continue
		}
		if s.managed == nil {
			s.managed = map[string]any{}
		}
		maps.Copy(s.managed, own)
		s.from = path
	}
	return nil
}

// clouds are the variables that select clouds, which sign their requests for one host.
func clouds() []string {
	return []string{
		"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_ANTHROPIC_AWS",
		"CLAUDE_CODE_USE_MANTLE", "CLAUDE_CODE_USE_GATEWAY", "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
	}
}

// address is where the Messages API is.
type address struct {
	base     string
	variable string // that says so, and that sends requests elsewhere
	aside    string // why they cannot be sent elsewhere, "" if they can
}

// ownAddress is the variable with the address of the API in Anthropic's own form.
const ownAddress = "ANTHROPIC_BASE_URL"

// foundry is the variable that selects Microsoft Foundry: the same API, with a key or a token.
const foundry = "CLAUDE_CODE_USE_FOUNDRY"

// addressIn returns the address in an environment.
func addressIn(env launch.Env) address {
	for _, cloud := range clouds() {
		if env.Enabled(cloud) {
			return address{aside: cloud + " is set: requests are signed for one host"}
		}
	}
	if env.Value("ANTHROPIC_UNIX_SOCKET") != "" {
		return address{aside: "ANTHROPIC_UNIX_SOCKET is set"}
	}
	if env.Enabled(foundry) {
		if base := addressOf(env, "ANTHROPIC_FOUNDRY_BASE_URL"); base != "" {
			return address{base: base, variable: "ANTHROPIC_FOUNDRY_BASE_URL"}
		}
		return address{aside: foundry + " is set without ANTHROPIC_FOUNDRY_BASE_URL"}
	}
	if base := addressOf(env, ownAddress); base != "" {
		return address{base: base, variable: ownAddress}
	}
	for _, other := range []string{"CLAUDE_CODE_API_BASE_URL", "CLAUDE_CODE_CUSTOM_OAUTH_URL"} {
		if env.Value(other) != "" {
			return address{aside: other + " is set, which may say where its model is"}
		}
	}
	if aside := profiled(env); aside != "" {
		return address{aside: aside}
	}
	return address{base: firstParty, variable: ownAddress}
}

func addressOf(env launch.Env, variable string) string {
	return strings.TrimRight(strings.TrimSpace(env.Value(variable)), "/")
}

// profiled returns why a profile of Anthropic's tools, which may hold an address, may say where the model is, "" if there
// is none with an address.
func profiled(env launch.Env) string {
	dir := env.Value("ANTHROPIC_CONFIG_DIR")
	if dir == "" {
		dir = env.Value("XDG_CONFIG_HOME")
		if dir == "" {
			dir = filepath.Join(env.Home(), ".config")
		}
		dir = filepath.Join(dir, "anthropic")
	}
	name := strings.TrimSpace(env.Value("ANTHROPIC_PROFILE"))
	if name == "" {
		raw, _, err := world.Read(filepath.Join(dir, "active_config"))
		if err != nil {
			return "which of its profiles is used cannot be read"
		}
		if name = strings.TrimSpace(string(raw)); name == "" {
			name = "default"
		}
	}
	path := filepath.Join(dir, "configs", name+".json")
	var profile struct {
		Base string `json:"base_url"`
	}
	if _, err := world.ReadJSON(path, &profile); err != nil || profile.Base != "" {
		return path + ", a profile, may say where its model is"
	}
	return ""
}

// atAnthropic reports whether an address is Anthropic's.
func atAnthropic(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Scheme == "https" && u.Hostname() == "api.anthropic.com"
}

// network returns how Claude Code reaches other machines: one proxy for all of them.
func network(env launch.Env) thread.Network {
	n := outward.Of(env)
	n.HTTP, n.HTTPS = "", ""
	for _, name := range []string{"https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"} {
		if proxy := env.Value(name); proxy != "" {
			n.HTTP, n.HTTPS = proxy, proxy
			break
		}
	}
	n.Certificate, n.Key = env.Value("CLAUDE_CODE_CLIENT_CERT"), env.Value("CLAUDE_CODE_CLIENT_KEY")
	return n
}

// World implements thread.Agent.
func (a *Agent) World(spec thread.WorldSpec) (thread.World, error) {
	s, err := lookAs(spec)
	if err != nil {
		return thread.World{}, err
	}
	w := thread.World{Network: network(s.env)}
	if s.env.Enabled("CLAUDE_CODE_DISABLE_1M_CONTEXT") {
		w.Windows = map[string]int64{"claude*": 200_000} // those that remain without the long one
	}
	at := addressIn(s.env)
	aside := at.aside
	if aside == "" && s.gateway && s.env.Value(ownAddress) == "" {
		aside = "its settings have you sign in to a gateway, where its requests go then"
	}
	if aside == "" {
		aside = s.outranked(at.variable)
	}
	if aside == "" {
		if addressIn(s.strange) != at || !reflect.DeepEqual(network(s.strange), w.Network) {
			aside = "the folder's settings say where its model is, and Claude Code asks first whether you trust the folder; " +
				"resume the thread after you have answered"
		}
	}
	if w.Aside = aside; aside == "" {
		w.Upstreams = map[string]string{"": at.base}
	}
	return w, nil
}

// outranked returns why the organisation's settings would keep requests from reaching the gateway, to which a variable
// would send them, "" if they do not.
func (s surroundings) outranked(variable string) string {
	if _, ok := s.managed[variable]; ok {
		return s.from + " says where its model is, and nothing outranks it"
	}
	_, upper := s.managed["NO_PROXY"]
	_, lower := s.managed["no_proxy"]
	if n := network(s.env); upper && lower && n.HTTP != "" {
		for name, list := range world.DirectValues(s.env) {
			if s.env.Value(name) != list {
				return s.from + " sends requests to this machine to a proxy, and nothing outranks it"
			}
		}
	}
	return unreadablePolicy()
}

// unreadablePolicy returns why policies that are not read may keep requests from the gateway, "" if they do not. Those
// of a Mac are in a format of its own; which variables they name can be seen all the same.
func unreadablePolicy() string {
	if runtime.GOOS != "darwin" {
		return ""
	}
	paths, _ := filepath.Glob("/Library/Managed Preferences/*/com.anthropic.claudecode.plist")
	for _, path := range append(paths, "/Library/Managed Preferences/com.anthropic.claudecode.plist") {
		raw, ok, err := world.Read(path)
		if err != nil || ok && (strings.Contains(string(raw), ownAddress) || strings.Contains(string(raw), "CLAUDE_CODE_USE_")) {
			return path + " may say where its model is, and nothing outranks it"
		}
	}
	return ""
}
