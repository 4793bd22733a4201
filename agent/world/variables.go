package world

import (
	"path"
	"slices"
	"strings"

	"orchestrator/agent/launch"
)

// Family is a family of variables by which a program speaks to what it starts. They mean nothing to programs that we
// start: another terminal, editor or agent is meant.
type Family struct {
	// Names are patterns as in path.Match, "ZELLIJ_*" for example.
	Names []string
	// Keep are those of them that configure the program, which people set on purpose.
	Keep []string
}

// Foreigner is an agent that speaks to what it starts by variables. Optional for an agent.
type Foreigner interface {
	// Foreign returns them.
	Foreign() Family
}

// has reports whether a variable belongs to the family.
func (f Family) has(name string) bool { return matches(f.Names, name) && !matches(f.Keep, name) }

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// Without returns an environment without the variables of some families.
func Without(env launch.Env, families ...[]Family) launch.Env {
	all := slices.Concat(families...)
	out := make(launch.Env, 0, len(env))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(all, func(f Family) bool { return f.has(name) }) {
			out = append(out, kv)
		}
	}
	return out
}

// Terminals are the families of terminals, multiplexers and editors around us, which are not the agent's terminal.
func Terminals() []Family {
	return []Family{
		{Names: []string{"TERM", "TERM_*", "TERMINFO", "TERMCAP", "COLORTERM", "COLORFGBG", "COLUMNS", "LINES", "WINDOWID",
			"LC_TERMINAL", "LC_TERMINAL_*", "TERMINAL_EMULATOR", "GPG_TTY", "SSH_TTY"}},
		{Names: []string{"TMUX", "TMUX_*"}, Keep: []string{"TMUX_TMPDIR"}},
		{Names: []string{"STY", "BYOBU_*"}, Keep: []string{"BYOBU_CONFIG_DIR"}},
		{Names: []string{"ZELLIJ", "ZELLIJ_*"}, Keep: []string{"ZELLIJ_CONFIG_*", "ZELLIJ_AUTO_*"}},
		{Names: []string{"HERDR", "HERDR_*"}, Keep: configuration("HERDR")},
		{Names: []string{"TUIOS", "TUIOS_*"}, Keep: configuration("TUIOS")},
		{Names: []string{"CMUX", "CMUX_*"}, Keep: configuration("CMUX")},
		{Names: []string{"REX", "REX_*"}, Keep: configuration("REX")},
		{Names: []string{"KITTY_*"}, Keep: []string{"KITTY_*_DIRECTORY"}},
		{Names: []string{"GHOSTTY_*", "ALACRITTY_*", "ITERM_*", "KONSOLE_*", "VTE_VERSION", "WT_SESSION", "WT_PROFILE_ID", "WARP_*", "WAVETERM*",
			"TILIX_ID", "TERMINATOR_*", "GNOME_TERMINAL_*", "PTYXIS_*", "ZED_TERM"}},
		{Names: []string{"WEZTERM_*"}, Keep: []string{"WEZTERM_CONFIG_*", "WEZTERM_LOG", "WEZTERM_SHELL_SKIP_*"}},
		{Names: []string{"NVIM", "NVIM_*", "VIM", "VIMRUNTIME", "MYVIMRC"}, Keep: []string{"NVIM_APPNAME"}},
		{Names: []string{"INSIDE_EMACS", "EMACS"}},
		{Names: []string{"VSCODE_*", "CURSOR_TRACE_ID"},
			Keep: []string{"VSCODE_PORTABLE", "VSCODE_EXTENSIONS", "VSCODE_APPDATA"}},
		{Names: []string{"AI_AGENT", "CURSOR_AGENT", "GOOSE_TERMINAL", "CLINE_ACTIVE"}},
	}
}

// configuration returns what configures a program of that name, as programs commonly do it.
func configuration(name string) []string {
	return []string{name + "_CONFIG", name + "_CONFIG_*", name + "_HOME"}
}
