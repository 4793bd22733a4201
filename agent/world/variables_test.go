package world_test

import (
	"slices"
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
)

func TestTerminals(t *testing.T) {
	for _, name := range []string{
		"TERM", "TERM_PROGRAM", "TERM_SESSION_ID", "COLORTERM", "TMUX", "TMUX_PANE", "TMUX_PLUGIN_MANAGER_PATH", "STY", "ZELLIJ",
		"ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID", "HERDR_PANE", "HERDR_SOCKET_PATH", "TUIOS_ID", "CMUX_SURFACE_ID", "REX_TAB",
		"KITTY_PUBLIC_KEY", "KITTY_WINDOW_ID", "GHOSTTY_BIN_DIR", "GHOSTTY_SHELL_FEATURES", "WEZTERM_UNIX_SOCKET",
		"WEZTERM_PANE", "NVIM", "NVIM_LISTEN_ADDRESS", "VIMRUNTIME", "INSIDE_EMACS", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE",
		"VSCODE_INJECTION", "GPG_TTY", "SSH_TTY", "LC_TERMINAL_VERSION", "ITERM_PROFILE", "ALACRITTY_LOG", "CURSOR_TRACE_ID",
		"AI_AGENT", "LINES",
	} {
		if got := world.Without(launch.Env{name + "=1", "A=b"}, world.Terminals()); len(got) != 1 {
			t.Errorf("%s stays", name)
		}
	}
	for _, name := range []string{
		"TMUX_TMPDIR", "ZELLIJ_CONFIG_DIR", "ZELLIJ_CONFIG_FILE", "ZELLIJ_AUTO_ATTACH", "HERDR_CONFIG", "HERDR_CONFIG_PATH",
		"CMUX_CONFIG_DIR", "TUIOS_CONFIG_FILE", "REX_HOME", "KITTY_CONFIG_DIRECTORY", "WEZTERM_CONFIG_FILE", "NVIM_APPNAME",
		"VSCODE_PORTABLE", "REXX_PATH", "TERMINFO_DIRS", "GPG_AGENT_INFO", "SSH_AUTH_SOCK", "SSH_CONNECTION", "EDITOR", "VISUAL",
		"LESS", "PAGER", "VIMINIT", "LC_ALL", "GNUPGHOME", "GIT_EDITOR", "HTTPS_PROXY",
	} {
		if got := world.Without(launch.Env{name + "=1"}, world.Terminals()); len(got) != 1 {
			t.Errorf("%s is taken away", name)
		}
	}
}

func TestUTF8(t *testing.T) {
	for _, c := range []struct{ env, want launch.Env }{
		{launch.Env{"LANG=de_DE.UTF-8"}, launch.Env{"LANG=de_DE.UTF-8"}},
		{launch.Env{"LANG=C", "LC_CTYPE=en_US.UTF-8"}, launch.Env{"LANG=C", "LC_CTYPE=en_US.UTF-8"}},
		{launch.Env{"LANG=de_DE.ISO-8859-1"}, launch.Env{"LANG=de_DE.ISO-8859-1"}},
		{launch.Env{"LC_ALL=C.UTF-8", "LANG=C"}, launch.Env{"LC_ALL=C.UTF-8", "LANG=C"}},
	} {
		if got := world.UTF8(c.env); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v", c.env, got)
		}
	}
	if got := world.UTF8(launch.Env{"LANG=C", "LC_MESSAGES=C"}); got.Value("LANG") == "C" || got.Value("LC_MESSAGES") != "C" {
		t.Errorf("%v", got)
	}
}
