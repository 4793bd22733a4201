package gemini

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
	"orchestrator/thread"
	"orchestrator/thread/outward"
)

// baseVar is the variable with the address of the Gemini API.
const baseVar = "GOOGLE_GEMINI_BASE_URL"

// envFile returns the .env file that Gemini CLI reads, "" if there is none: the first one of the folder and those above,
// and of its home. Those in .gemini come first, and count only where the person trusts the folder.
func envFile(env launch.Env, s settings, dir string, trusted bool) string {
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	root := filepath.Dir(home(env))
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if path := filepath.Join(at, ".gemini", ".env"); trusted && exists(path) {
			return path
		}
		if path := filepath.Join(at, ".env"); exists(path) && (!s.Advanced.Ignore || at == root) {
			return path
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if path := filepath.Join(root, ".gemini", ".env"); trusted && exists(path) {
		return path
	}
	if path := filepath.Join(root, ".env"); exists(path) {
		return path
	}
	return ""
}

// everywhere are the variables that are taken from the .env file of any folder, others only of one that is trusted.
func everywhere() []string {
	return []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"}
}

// around is what Gemini CLI sees in a folder: the environment with the variables that its .env file adds, and the
// settings.
type around struct {
	env      launch.Env
	settings settings
}

// look reads what Gemini CLI sees in a folder that is trusted or not.
func look(spec thread.WorldSpec, trusted bool) (around, error) {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	folder := spec.Dir
	if !trusted {
		folder = ""
	}
	s, err := readSettings(env, folder)
	if err != nil {
		return around{}, err
	}
	s.Advanced.Ignore = s.Advanced.Ignore || slices.Contains(spec.Flags.Args, "--ignore-env")
	path := envFile(env, s, spec.Dir, trusted)
	if info, err := os.Stat(path); path == "" || err == nil && info.IsDir() {
		return around{env, s}, nil // a folder of that name hides other files
	}
	raw, _, err := world.Read(path)
	if err != nil {
		return around{}, err
	}
	added := map[string]string{}
	for _, v := range world.DotEnv(raw) {
		switch {
		case !trusted && !slices.Contains(everywhere(), v.Name):
		case !strings.Contains(path, ".gemini") && slices.Contains(s.Advanced.Excluded, v.Name):
		default:
			added[v.Name] = v.Value
		}
	}
	for name, value := range added {
		env = env.Default(name, value) // the environment wins
	}
	return around{env, s}, nil
}

// address returns the address of the Gemini API, or why requests cannot be sent elsewhere: logins use other APIs.
func (a around) address() (base, aside string) {
	selected := a.settings.Security.Auth.Selected
	switch {
	case selected == "" && a.env.Value("GOOGLE_GENAI_USE_GCA") == "true", strings.HasPrefix(selected, "oauth"):
		return "", "it is signed in with a Google account, whose requests go to one host"
	case selected == "" && a.env.Value("GOOGLE_GENAI_USE_VERTEXAI") == "true", selected == "vertex-ai":
		return "", "it uses Vertex AI, whose requests go to one host"
	case selected != "" && selected != "gemini-api-key" && selected != "gateway":
		return "", "it signs in by " + selected + ", whose requests go to one host"
	}
	if base = strings.TrimRight(a.env.Value(baseVar), "/"); base != "" {
		return base, ""
	}
	return google, ""
}

// network returns how Gemini CLI reaches other machines: one proxy for all of them.
func (a around) network() thread.Network {
	n := outward.Of(a.env)
	n.HTTP, n.HTTPS = "", ""
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if proxy := a.env.Value(name); proxy != "" {
			n.HTTP, n.HTTPS = proxy, proxy
			break
		}
	}
	return n
}

// trustIn returns the trust level of the folder that an agent is started in, "" if Gemini CLI asks.
func trustIn(spec thread.WorldSpec) string {
	env := launch.Env(spec.Env).Adding(spec.Flags.Env)
	level := trustOf(env, spec.Dir)
	if level == "" && spec.Origin != "" {
		level = trustOf(env, spec.Origin)
	}
	if level == "" && slices.Contains(spec.Flags.Args, "--skip-trust") {
		level = trustFolder
	}
	return level
}

// same reports whether requests go the same way.
func same(a, b around) bool {
	to, aside := a.address()
	there, why := b.address()
	return to == there && aside == why && reflect.DeepEqual(a.network(), b.network())
}

// World implements thread.Agent.
func (a *Agent) World(spec thread.WorldSpec) (thread.World, error) {
	level := trustIn(spec)
	seen, err := look(spec, level == trustFolder)
	if err != nil {
		return thread.World{}, err
	}
	w := thread.World{Network: seen.network()}
	base, aside := seen.address()
	if aside == "" && level == "" {
		other, err := look(spec, true)
		if err != nil {
			return thread.World{}, err
		}
		own := spec
		own.Dir = filepath.Dir(home(launch.Env(spec.Env).Adding(spec.Flags.Env)))
		mine, err := look(own, true)
		if err != nil {
			return thread.World{}, err
		}
		switch {
		case same(other, mine): // the folder adds nothing to the person's own files, which count once it is trusted
			base, aside = mine.address()
			w.Network = mine.network()
		case !same(other, seen):
			aside = "the folder's files say where its model is, and Gemini CLI asks first whether you trust the folder; " +
				"resume the thread after you have answered"
		}
	}
	if w.Aside = aside; aside == "" {
		w.Upstreams = map[string]string{"": base}
	}
	return w, nil
}

// viaGateway returns the environment that sends requests to the gateway. Its .env file would be asked for what is
// reached without a proxy only if the environment said nothing.
func viaGateway(env launch.Env, spec thread.LaunchSpec) (launch.Env, error) {
	in := thread.WorldSpec{Dir: spec.Dir, Origin: spec.Origin, Env: spec.Env, Flags: spec.Flags}
	seen, err := look(in, trustIn(in) == trustFolder)
	if err != nil {
		return nil, err
	}
	direct := world.DirectValues(seen.env)
	for _, name := range slices.Sorted(maps.Keys(direct)) { // the same each time
		env = env.With(name, direct[name])
	}
	return env.With(baseVar, spec.BaseURL), nil
}
