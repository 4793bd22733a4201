package discovery

import (
	"net/url"
	"path/filepath"
	"sort"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread"
)

// Find lists the servers of all files, sorted by name, source and agent, without values that could be secrets
// (environment, headers, user information and query of URLs, arguments). A file that cannot be read is listed as a
// server with a Problem.
func (p Places) Find() []thread.MCPServer {
	all := p.Definitions()
	var found []thread.MCPServer
	for _, problem := range all.Problems {
		if problem.Server == "" {
			found = append(found, thread.MCPServer{
				Name: filepath.Base(problem.File), Source: problem.File, Agent: problem.Agent, Problem: problem.Text,
			})
		}
	}
	for _, d := range all.Definitions {
		found = append(found, row(d))
	}
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i], found[j]
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		if a.Source != b.Source {
			return a.Source < b.Source
		}
		return a.Agent < b.Agent
	})
	return found
}

func row(d definition.Definition) thread.MCPServer {
	out := thread.MCPServer{
		Name: d.Name, Source: d.Sources[0].File, Agent: d.Sources[0].Agent, Trusted: d.Trusted(), Enabled: d.Enabled,
		Transport: string(d.Transport), Target: d.Command, Problem: d.Problem,
	}
	if d.Transport != definition.Stdio {
		out.Target = withoutSecrets(d.URL)
	}
	return out
}

func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
