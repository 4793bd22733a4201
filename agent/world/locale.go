package world

import (
	"runtime"
	"strings"

	"orchestrator/agent/launch"
)

// utf8 is a locale that changes nothing but the encoding. Macs have no C.UTF-8.
func utf8() string {
	if runtime.GOOS == "darwin" {
		return "en_US.UTF-8"
	}
	return "C.UTF-8"
}

// UTF8 returns an environment whose encoding is that of our terminal, if none was chosen: the variable that decides is
// changed if it says C or POSIX. A locale that somebody has chosen is left alone.
func UTF8(env launch.Env) launch.Env {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		switch strings.ToUpper(env.Value(name)) {
		case "":
			continue
		case "C", "POSIX":
			return env.With(name, utf8())
		}
		return env
	}
	return env.With("LANG", utf8())
}
