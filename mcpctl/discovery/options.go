package discovery

import (
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/jsonc"
)

// setOurs knows the settings that we add to a server.
func setOurs(d *draft, key string, v jsonc.Value) (string, bool) {
	switch key {
	case "taskPatterns":
		return list(&d.Patterns, v), true
	case "x-orchestrator":
		return options(d, v), true
	}
	return "", false
}

// options reads x-orchestrator. What is wrong in it is a warning: the server works without it.
func options(d *draft, v jsonc.Value) string {
	if v.Kind != jsonc.Object {
		return "an object"
	}
	for _, m := range v.Members() {
		must, known := option(&d.Options, m.Key, m.Value)
		switch {
		case !known:
			d.warn("x-orchestrator: %.60q is not known here", m.Key)
		case must != "":
			d.warn("x-orchestrator: %s must be %s; it is not used", m.Key, must)
			d.problems.add(m.Line, d.Name, "x-orchestrator: %s must be %s", m.Key, must)
		}
	}
	return ""
}

func option(o *definition.Options, key string, v jsonc.Value) (must string, known bool) {
	switch key {
	case "share":
		return share(&o.Share, v), true
	case "idleStop":
		return duration(&o.IdleStop, v), true
	case "startTimeout":
		return duration(&o.StartTimeout, v), true
	case "callTimeout":
		return duration(&o.CallTimeout, v), true
	case "tools":
		return tools(o, v), true
	case "stageChars":
		var n time.Duration
		must := number(&n, 1, v)
		o.StageChars = int(n)
		return must, true
	case "description":
		return text(&o.Description, v), true
	case "tags":
		return list(&o.Tags, v), true
	case "files":
		return list(&o.Files, v), true
	}
	return "", false
}

func share(to *definition.Share, v jsonc.Value) string {
	s, _ := v.Text()
	switch found := definition.Share(s); found {
	case definition.ByThread, definition.ByProject:
		*to = found
		return ""
	}
	return `"thread" or "project"`
}

func tools(o *definition.Options, v jsonc.Value) string {
	wrong := v.Kind != jsonc.Object
	for _, m := range v.Members() {
		switch m.Key {
		case "allow":
			wrong = list(&o.Allow, m.Value) != "" || wrong
		case "deny":
			wrong = list(&o.Deny, m.Value) != "" || wrong
		default:
			wrong = true
		}
	}
	if wrong {
		return `an object with the lists "allow" and "deny"`
	}
	return ""
}
