package definition

import (
	"path/filepath"
	"slices"
	"strings"
)

// manner is how a command line finds what it loads.
type manner string

const (
	// direct: a program, or an interpreter with a file. What it loads it finds by the places of its own files.
	direct manner = ""
	// packages: npx, which runs a package of the project if there is one and downloads it otherwise.
	packages manner = "packages"
	// around: what it loads it finds by the folder in which it is started.
	around manner = "around"
)

// nameOf is a program's name without its version: python for python3.11.
func nameOf(command string) string {
	name := strings.TrimSuffix(filepath.Base(command), ".exe")
	for _, known := range []string{"python", "pypy", "ruby", "perl", "php", "node", "lua"} {
		if rest, ok := strings.CutPrefix(name, known); ok && strings.Trim(rest, "0123456789.-") == "" {
			return known
		}
	}
	if name == "nodejs" {
		return "node"
	}
	return name
}

// quiet are options before the file of an interpreter that load nothing.
func quiet(interpreter, option string) bool {
	switch interpreter {
	case "python", "pypy":
		return strings.Trim(option, "uBsESIOPRvq") == "-"
	case "node":
		for _, begin := range []string{"--no-", "--enable-source-maps", "--max-", "--experimental-", "--stack-", "--trace-", "--harmony",
			"--unhandled-rejections"} {
			if strings.HasPrefix(option, begin) && !strings.Contains(option, "loader") && !strings.Contains(option, "config") {
				return true
			}
		}
	case "java":
		return option == "-jar" || strings.HasPrefix(option, "-X")
	case "ruby", "perl":
		return option == "-w"
	}
	return false
}

// interprets reports whether a program runs a file that finds what it loads by its own place.
func interprets(name string) bool {
	return slices.Contains([]string{"python", "pypy", "node", "ruby", "perl", "php", "lua", "java", "Rscript"}, name)
}

// shells are programs whose files and arguments mean the folder in which they are started.
func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox"}, name)
}

// looksAround reports whether a program loads what it runs from the folder in which it is started.
func looksAround(name string) bool {
	return isShell(name) || slices.Contains([]string{
		"npm", "pnpm", "pnpx", "yarn", "yarnpkg", "bun", "bunx", "deno", "tsx", "ts-node", "vite-node", "nodemon", "pm2", "corepack",
		"uv", "poetry", "pipenv", "hatch", "pdm", "rye", "pixi", "conda", "mamba", "tox", "nox", "invoke", "pytest",
		"make", "gmake", "just", "task", "rake", "bundle", "ninja", "cmake", "bazel", "bazelisk", "buck2", "nx", "turbo", "lerna",
		"cargo", "go", "gradle", "gradlew", "mvn", "mvnw", "sbt", "scala", "lein", "clojure", "clj", "bb", "mix", "elixir", "iex", "rebar3",
		"dotnet", "swift", "stack", "cabal", "dub", "zig", "nim", "nimble", "crystal", "shards", "composer", "artisan", "dart", "flutter",
		"mise", "asdf", "direnv", "devbox", "nix", "nix-shell", "docker-compose", "earthly", "dagger", "foreman", "overmind",
		"env", "nice", "ionice", "timeout", "time", "nohup", "setsid", "stdbuf", "sudo", "doas", "xargs", "script", "unbuffer", "xvfb-run",
		"dotenv", "dotenvx", "cross-env", "concurrently", "watchexec", "entr", "expect", "tclsh", "guile", "racket", "sbcl", "julia",
		"octave", "erl", "ghci", "runghc", "runhaskell", "osascript", "pwsh", "powershell",
	}, name)
}

// loads reports whether a variable makes a program load what its value names.
func loads(variable string) bool {
	for _, begin := range []string{"LD_", "DYLD_", "BUNDLE_", "npm_config_", "NPM_CONFIG_", "DENO_", "BUN_", "TS_NODE_", "GIT_", "COMPOSER_",
		"LUA_", "CARGO_", "BASH_FUNC_", "R_"} {
		if strings.HasPrefix(variable, begin) {
			return true
		}
	}
	return slices.Contains([]string{
		"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NODE_COMPILE_CACHE", "NODE_V8_COVERAGE", "PYTHONPATH", "PYTHONHOME",
		"PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE", "PYTHONWARNINGS",
		"PYTHONBREAKPOINT", "PERL5LIB", "PERL5OPT", "PERLLIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "GEM_HOME", "GEM_PATH", "JAVA_TOOL_OPTIONS",
		"_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "JAVA_HOME", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "BASH_ENV", "ENV", "ZDOTDIR",
		"SHELLOPTS", "PROMPT_COMMAND", "PATH", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "GOFLAGS", "GOENV", "GOPATH", "GOWORK", "GOTOOLDIR",
		"PHPRC", "PHP_INI_SCAN_DIR", "OPENSSL_CONF", "GCONV_PATH", "RUSTC_WRAPPER", "RUSTFLAGS", "MAKEFLAGS", "MAKEFILES", "DOTNET_STARTUP_HOOKS",
		"DOTNET_ADDITIONAL_DEPS", "CORECLR_PROFILER_PATH", "VIRTUAL_ENV", "UV_PROJECT", "UV_CONFIG_FILE", "UV_ENV_FILE", "PIP_CONFIG_FILE",
		"JULIA_LOAD_PATH", "GUILE_LOAD_PATH", "ERL_FLAGS", "ELIXIR_ERL_OPTIONS", "TCLLIBPATH",
	}, variable)
}

// settingsOf are the files that a program reads in the folder in which it is started, and above.
func settingsOf(name string) []string {
	javaScript := []string{"package.json", "node_modules", ".npmrc", "tsconfig.json"}
	python := []string{"pyproject.toml", "setup.cfg", "setup.py", ".venv", "venv", ".python-version"}
	switch name {
	case "npx":
		return []string{".npmrc"}
	case "npm", "pnpm", "pnpx", "yarn", "yarnpkg", "corepack", "nx", "turbo", "lerna":
		return append(javaScript, "pnpm-workspace.yaml", ".pnpmfile.cjs", ".yarnrc", ".yarnrc.yml", ".yarn",
			".pnp.cjs", ".pnp.loader.mjs", "nx.json", "turbo.json", "lerna.json", ".node-version", ".nvmrc")
	case "bun", "bunx":
		return append(javaScript, "bunfig.toml", ".env", ".env.local", ".env.development", ".env.production")
	case "deno":
		return append(javaScript, "deno.json", "deno.jsonc", "deno.lock", "import_map.json", ".env")
	case "node", "tsx", "ts-node", "vite-node", "nodemon", "pm2", "concurrently", "cross-env":
		return append(javaScript, "nodemon.json", "vite.config.ts", "vite.config.js")
	case "poetry", "pipenv", "hatch", "pdm", "rye", "pixi", "conda", "mamba", "tox", "nox", "invoke", "pytest":
		return append(python, "poetry.lock", "Pipfile", "Pipfile.lock", "pdm.lock", "tasks.py", "conftest.py", "environment.yml", "pixi.toml",
			"tox.ini", "noxfile.py", "sitecustomize.py", "usercustomize.py")
	case "uv", "uvx":
		return append(python, "uv.lock", "uv.toml")
	case "make", "gmake":
		return []string{"Makefile", "makefile", "GNUmakefile"}
	case "just":
		return []string{"justfile", "Justfile", ".justfile", ".env"}
	case "task":
		return []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml"}
	case "rake", "bundle", "ruby", "foreman":
		return []string{"Rakefile", "rakefile", "Gemfile", "Gemfile.lock", ".bundle", "Procfile", ".ruby-version"}
	case "cargo":
		return []string{"Cargo.toml", "Cargo.lock", ".cargo", "src", "rust-toolchain", "rust-toolchain.toml", "build.rs"}
	case "go":
		return []string{"go.mod", "go.sum", "go.work", "go.work.sum", "vendor"}
	case "gradle", "gradlew":
		return []string{"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle", "gradlew", "src"}
	case "mvn", "mvnw":
		return []string{"pom.xml", ".mvn", "mvnw", "src"}
	case "mise", "asdf", "direnv":
		return []string{".mise.toml", "mise.toml", ".tool-versions", ".envrc"}
	case "dotenv", "dotenvx":
		return []string{".env"}
	case "php", "composer", "artisan":
		return []string{"composer.json", "composer.lock", "vendor", "artisan", "php.ini"}
	}
	return nil
}
