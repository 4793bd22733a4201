package match

type Memory struct{}

func (*Memory) Remember(string, []string) error { return nil }

type Suggestion struct {
	Server, Why string
	Score       float64
}

type Server struct {
	ID, Name, Title string
	Tags            []string
	Description     string
	Tools           []Tool
}
type Tool struct{ Name, Title, Description string }
type Index struct{}

func NewIndex([]Server) *Index                      { return &Index{} }
func (*Index) Suggest(string, *Memory) []Suggestion { return nil }
