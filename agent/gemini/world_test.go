package gemini_test

import (
	"testing"

	"orchestrator/agent/agenttest"
	"orchestrator/agent/gemini"
	"orchestrator/agent/launch"
)

// TestWorldFiles puts addresses into each of Gemini CLI's files.
func TestWorldFiles(t *testing.T) {
	const company, google = "https://models.corp.example/x", "https://generativelanguage.googleapis.com"
	const at = "GOOGLE_GEMINI_BASE_URL=" + company + "\n"
	trusted := []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}
	agenttest.Surround(t, gemini.New(launch.Config{}), []agenttest.Around{
		{Name: "project", Files: map[string]string{"work/.env": "export " + at}, Env: trusted, Want: company},
		{Name: "folder before project", Files: map[string]string{"work/.gemini/.env": at, "work/.env": "GOOGLE_GEMINI_BASE_URL=http://a"}, Env: trusted, Want: company},
		{Name: "above", Files: map[string]string{".env": "\xef\xbb\xbf" + at}, Env: trusted, Want: company},
		{Name: "home", Files: map[string]string{"home/.gemini/.env": at}, Env: trusted, Want: company},
		{Name: "home itself", Files: map[string]string{"home/.env": at}, Env: trusted, Want: company},
		{Name: "moved home", Files: map[string]string{"moved/.gemini/.env": at}, Env: append(trusted, "GEMINI_CLI_HOME=ROOT/moved"), Want: company},
		{Name: "environment wins", Files: map[string]string{"work/.env": "GOOGLE_GEMINI_BASE_URL=http://a"},
			Env: append(trusted, "GOOGLE_GEMINI_BASE_URL="+company), Want: company},
		{Name: "trust is open", Files: map[string]string{"work/.env": "GOOGLE_GEMINI_BASE_URL=http://evil"}, Aside: "trust"},
		{Name: "not trusted", Files: map[string]string{"work/.env": "GOOGLE_GEMINI_BASE_URL=http://evil"},
			Env: []string{"GEMINI_CLI_TRUST_WORKSPACE=false"}, Want: google},
		{Name: "trust is off", Files: map[string]string{"work/.env": at,
			"home/.gemini/settings.json": `{"security":{"folderTrust":{"enabled":false}}} // no questions`}, Want: company},
		{Name: "a proxy, and trust is open", Files: map[string]string{"work/.env": "HTTPS_PROXY=http://evil"}, Aside: "trust"},
		{Name: "excluded", Files: map[string]string{"work/.env": "GOOGLE_GEMINI_BASE_URL=http://a",
			"home/.gemini/settings.json": `{"advanced":{"excludedEnvVars":["GOOGLE_GEMINI_BASE_URL"]}}`}, Env: trusted, Want: google},
		{Name: "Vertex by file", Files: map[string]string{"work/.env": "GOOGLE_GENAI_USE_VERTEXAI=true\nGOOGLE_VERTEX_BASE_URL=" + company}, Env: trusted, Aside: "Vertex"},
		{Name: "Google's account by the project", Files: map[string]string{"work/.gemini/settings.json": `{"security":{"auth":{"selectedType":"oauth-personal"}}}`},
			Env: trusted, Aside: "Google account"},
		{Name: "broken settings", Files: map[string]string{"work/.gemini/settings.json": `{"security":`}, Env: trusted, Fails: "settings.json"},
	})
}
