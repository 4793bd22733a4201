package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/pattern"
)

// Config is what every adapter is made with.
type Config struct {
	// Env is the environment to look for programs in, the server's own.
	Env []string
	// Hook is the program with its first arguments that takes an agent's hook report on its standard
	// input, the event's name as last argument, and posts it to ORCHESTRATOR_HOOK_URL. Empty: agents
	// are started without hooks.
	Hook []string
}

// HookURLVar names the variable that tells Config.Hook where to post.
const HookURLVar = "ORCHESTRATOR_HOOK_URL"

// Program is an agent's program: how it is found, and what it must be.
type Program struct {
	Agent   string   // the adapter's name
	Command string   // name on PATH
	Folders []string // where else to look, below the home folder unless absolute
	// Package is the npm package, whose package.json tells the version without a start.
	Package string
	Minimum string // oldest version that works
	Install string // what to run to get it
	// Native turns what was found into what is to be executed: an npm package's wrapper into the
	// program inside. Nil takes it as it is.
	Native func(path string) (string, []string)

	// mu guards cache.
	mu    sync.Mutex
	cache map[string]string // version by path, size and time
}

// Found is a program ready to be started.
type Found struct {
	Path    string   // what is executed
	Args    []string // come before all other arguments: the script of an interpreter
	Version string
}

// folders are where package managers put programs, below the home folder unless absolute.
var folders = []string{
	".local/bin", ".npm-global/bin", ".npm/bin", ".bun/bin", ".volta/bin", "bin",
	"/usr/local/bin", "/opt/homebrew/bin", "/usr/bin",
}

// versionTimeout is how long a program may take to say its version.
const versionTimeout = 20 * time.Second

// Find looks for the program in the environment's PATH and then in the well-known folders. The
// error is a thread.HintError over thread.ErrNotFound, or says that the version is too old.
func (p *Program) Find(ctx context.Context, env Env) (Found, error) {
	info, found := p.look(ctx, env)
	if info.Problem != "" {
		kind := thread.ErrNotFound
		if info.Found {
			kind = thread.ErrUnsupported
		}
		return Found{}, thread.Hint(fmt.Errorf("%s: %s: %w", p.Agent, info.Problem, kind), info.Hint)
	}
	return found, nil
}

// Info describes the program for people.
func (p *Program) Info(ctx context.Context, env Env) thread.AgentInfo {
	info, _ := p.look(ctx, env)
	return info
}

func (p *Program) look(ctx context.Context, env Env) (thread.AgentInfo, Found) {
	info := thread.AgentInfo{Name: p.Agent}
	for _, folder := range p.searchPath(env) {
		path := filepath.Join(folder, p.Command)
		info.Looked = append(info.Looked, path)
		if !executable(path) {
			continue
		}
		found := Found{Path: path}
		if p.Native != nil {
			found.Path, found.Args = p.Native(path)
		}
		if !executable(found.Path) {
			if found.Path, found.Args = path, nil; p.Native == nil {
				continue
			}
		}
		info.Found, info.Path = true, path
		found.Version = p.version(ctx, env, path, found)
		info.Version = found.Version
		switch {
		case found.Version == "":
			info.Problem = "does not say its version"
			info.Hint = fmt.Sprintf("try %s --version; reinstall it with: %s", path, p.Install)
		case Older(found.Version, p.Minimum):
			info.Problem = fmt.Sprintf("too old: %s, needs %s", found.Version, p.Minimum)
			info.Hint = "update it with: " + p.Install
		}
		return info, found
	}
	info.Problem = "not found"
	info.Hint = "install it with: " + p.Install
	return info, Found{}
}

// searchPath returns absolute folders, without repeats, PATH first. Relative entries of PATH are
// left out: what a program is must not depend on a thread's folder.
func (p *Program) searchPath(env Env) []string {
	var all []string
	seen := map[string]bool{}
	add := func(folder string) {
		if filepath.IsAbs(folder) && !seen[folder] {
			seen[folder] = true
			all = append(all, folder)
		}
	}
	for _, folder := range filepath.SplitList(env.Value("PATH")) {
		add(folder)
	}
	for _, folder := range append(append([]string{}, p.Folders...), folders...) {
		if !filepath.IsAbs(folder) && env.Home() != "" {
			folder = filepath.Join(env.Home(), folder)
		}
		add(folder)
	}
	return all
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// version returns the version by the npm package that the program lies in, or by asking it.
func (p *Program) version(ctx context.Context, env Env, path string, found Found) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	info, err := os.Stat(real)
	if err != nil {
		return ""
	}
	key := fmt.Sprintf("%s\x00%d\x00%d", real, info.Size(), info.ModTime().UnixNano())
	p.mu.Lock()
	v, ok := p.cache[key]
	p.mu.Unlock()
	if ok {
		return v
	}
	if v = p.packageVersion(real); v == "" {
		v = ask(ctx, env, found)
	}
	if v == "" {
		return "" // may be a matter of load: ask again the next time
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cache == nil {
		p.cache = map[string]string{}
	}
	p.cache[key] = v
	return v
}

// packageVersion reads the version off the package.json of the package that the file lies in.
func (p *Program) packageVersion(real string) string {
	if p.Package == "" {
		return ""
	}
	folder := filepath.Dir(real)
	for range 4 {
		raw, err := os.ReadFile(filepath.Join(folder, "package.json"))
		if err == nil {
			var pkg struct{ Name, Version string }
			if json.Unmarshal(raw, &pkg) == nil && pkg.Name == p.Package {
				return pkg.Version
			}
		}
		folder = filepath.Dir(folder)
	}
	return ""
}

var versionWord = pattern.Lazy(`\d+\.\d+(?:\.\d+)?[-+.0-9A-Za-z]*`)

func ask(ctx context.Context, env Env, found Found) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, found.Path, append(append([]string{}, found.Args...), "--version")...)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return versionWord().FindString(string(out))
}

// Older reports whether version a is older than b, by its numbers.
func Older(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

func numbers(v string) [3]int {
	var n [3]int
	for i, part := range strings.SplitN(v, ".", 3) {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end >= 0 {
			part = part[:end]
		}
		x, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		n[i] = x
	}
	return n
}

// NodeArch is this machine's platform as npm packages name it: "linux-x64".
func NodeArch() string {
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return runtime.GOOS + "-" + arch
}

// InModules returns the first executable among paths below the node_modules folders that the
// file at path, symbolic links followed, stands in; empty when there is none.
func InModules(path string, inside ...string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for folder := filepath.Dir(real); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		for _, modules := range []string{filepath.Join(folder, "node_modules"), folder} {
			if filepath.Base(modules) != "node_modules" {
				continue
			}
			for _, in := range inside {
				if p := filepath.Join(modules, in); executable(p) {
					return p
				}
			}
		}
	}
	return ""
}
