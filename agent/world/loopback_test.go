package world_test

import (
	"testing"

	"orchestrator/agent/launch"
	"orchestrator/agent/world"
)

func TestDirect(t *testing.T) {
	const all = "127.0.0.1,localhost,::1"
	for _, c := range []struct {
		name         string
		env          launch.Env
		upper, lower string
	}{
		{"nothing", nil, all, all},
		{"empty", launch.Env{"NO_PROXY=", "no_proxy= "}, all, all},
		{"one spelling", launch.Env{"NO_PROXY=.corp.example,10.0.0.0/8"}, ".corp.example,10.0.0.0/8," + all,
			".corp.example,10.0.0.0/8," + all},
		{"the other", launch.Env{"no_proxy=a b"}, "a b," + all, "a b," + all},
		{"two lists", launch.Env{"NO_PROXY=a", "no_proxy=b,"}, "a," + all, "b," + all},
		{"everything", launch.Env{"NO_PROXY=*"}, "*", "*"},
		{"everything and more", launch.Env{"no_proxy=*,x"}, "*,x," + all, "*,x," + all},
		{"some there", launch.Env{"NO_PROXY=LocalHost, 127.0.0.1"}, "LocalHost, 127.0.0.1,::1", "LocalHost, 127.0.0.1,::1"},
		{"a port only", launch.Env{"NO_PROXY=127.0.0.1:80"}, "127.0.0.1:80," + all, "127.0.0.1:80," + all},
		{"set twice", launch.Env{"NO_PROXY=a", "NO_PROXY=b"}, "b," + all, "b," + all},
	} {
		got := world.Direct(append(launch.Env{"HTTPS_PROXY=http://proxy.example:3128"}, c.env...))
		if got.Value("NO_PROXY") != c.upper || got.Value("no_proxy") != c.lower {
			t.Errorf("%s: %q, %q", c.name, got.Value("NO_PROXY"), got.Value("no_proxy"))
		}
		if got.Value("HTTPS_PROXY") != "http://proxy.example:3128" {
			t.Errorf("%s: the proxy itself is changed", c.name)
		}
		if again := world.Direct(got); again.Value("NO_PROXY") != c.upper {
			t.Errorf("%s: twice: %q", c.name, again.Value("NO_PROXY"))
		}
	}
}
