// Package dashboards lays out what shows weir's metrics: Grafana dashboards, and rules for Prometheus and Alertmanager.
package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

// File is a file to write.
type File struct {
	Name string // grafana/weir-fabric.json
	Body []byte
}

// PanelQuery is one query of one panel.
type PanelQuery struct {
	Dashboard, Panel string
	Expr             string   // as in the dashboard, with its variables
	Labels           []string // of the result, that the panel shows
}

// Plain is the query without Grafana's variables: of everything, with the rate over the interval given, as 1m.
func (q PanelQuery) Plain(interval string) string {
	return strings.NewReplacer("$__rate_interval", interval, "$device", ".*", "$port", ".*").Replace(q.Expr)
}

// columns is how wide a dashboard is.
const columns = 24

// dashboard is one of dashboards.yaml.
type dashboard struct {
	File, UID, Title string
	Variables        []variable
	Panels           []panel
}

type variable struct{ Name, Query string }

type panel struct {
	Title, Description, Kind, Unit string
	Width, Height                  int
	Instant                        bool
	Bad, Warn, Good                int      // a stat is red from bad on, orange from warn on, red below good; 0: not judged
	Row, Column                    string   // labels, of a matrix
	Columns                        []string // of a table, in their order
	Value                          string   // heading of a table's values
	Worst                          bool     // the greatest value of a table comes first, else the devices by name
	None                           string   // what is said when there is no data
	Words                          []word   // that are shown for values
	Queries                        []query
	ID, X, Y                       int `yaml:"-"`
}

type word struct {
	Value       int
	Text, Color string
}

// step is the colour of a stat from a value on.
type step struct {
	Color string
	From  int
}

type query struct {
	Expr, Legend string
	RefID        string `yaml:"-"`
}

// Type is the panel's type in Grafana.
func (p panel) Type() string {
	if p.Kind == "matrix" {
		return "table"
	}
	return p.Kind
}

// Format is how the result of the panel's queries is returned.
func (p panel) Format() string {
	if p.Type() == "table" {
		return "table"
	}
	return "time_series"
}

// Judged says whether the colour of a stat means something.
func (p panel) Judged() bool { return p.Bad != 0 || p.Warn != 0 || p.Good != 0 }

// Steps are the colours of the panel's values. The first has no lower end.
func (p panel) Steps() []step {
	switch {
	case p.Bad != 0:
		return []step{{"green", 0}, {"red", p.Bad}}
	case p.Warn != 0:
		return []step{{"green", 0}, {"orange", p.Warn}}
	case p.Good != 0:
		return []step{{"red", 0}, {"green", p.Good}}
	}
	return []step{{"text", 0}}
}

// Corner is what Grafana calls the first column of a matrix.
func (p panel) Corner() string { return p.Row + "\\" + p.Column }

// Place is the place of column i of a matrix, after the one that names the row.
func (p panel) Place(i int) int { return i + 1 }

// legendLabel finds the labels of a legend.
var legendLabel = regexp.MustCompile(`{{(\w+)}}`)

// labels are those that the panel shows of the result of q.
func (p panel) labels(q query) []string {
	var out []string
	switch p.Kind {
	case "matrix":
		return []string{p.Row, p.Column}
	case "table":
		for _, c := range p.Columns {
			if c != "Value" {
				out = append(out, c)
			}
		}
	default:
		for _, m := range legendLabel.FindAllStringSubmatch(q.Legend, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// Files are all files, from the folders grafana and prometheus of the templates.
func Files(templates fs.FS) ([]File, error) {
	boards, err := read(templates)
	if err != nil {
		return nil, err
	}
	layout, err := template.New("dashboard.json.tmpl").Option("missingkey=error").
		Funcs(template.FuncMap{"json": quote}).ParseFS(templates, "grafana/dashboard.json.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the layout of dashboards: %w", err)
	}
	var out []File
	for _, d := range boards {
		var b bytes.Buffer
		if err := layout.Execute(&b, d); err != nil {
			return nil, fmt.Errorf("lay out %s: %w", d.File, err)
		}
		out = append(out, File{Name: path.Join("grafana", d.File), Body: b.Bytes()})
	}
	rules, err := fs.Glob(templates, "prometheus/*.yml")
	if err != nil {
		return nil, err
	}
	for _, name := range rules {
		body, err := fs.ReadFile(templates, name)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Name: name, Body: body})
	}
	return out, nil
}

// Queries are the queries of all panels.
func Queries(templates fs.FS) ([]PanelQuery, error) {
	boards, err := read(templates)
	if err != nil {
		return nil, err
	}
	var out []PanelQuery
	for _, d := range boards {
		for _, p := range d.Panels {
			for _, q := range p.Queries {
				out = append(out, PanelQuery{d.Title, p.Title, q.Expr, p.labels(q)})
			}
		}
	}
	return out, nil
}

// read decodes the dashboards and gives panels their places.
func read(templates fs.FS) ([]dashboard, error) {
	const name = "grafana/dashboards.yaml"
	body, err := fs.ReadFile(templates, name)
	if err != nil {
		return nil, fmt.Errorf("read the dashboards: %w", err)
	}
	var file struct{ Dashboards []dashboard }
	strict := yaml.NewDecoder(bytes.NewReader(body))
	strict.KnownFields(true)
	if err := strict.Decode(&file); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	for _, d := range file.Dashboards {
		place(d.Panels)
	}
	return file.Dashboards, nil
}

// place fills rows from the left.
func place(panels []panel) {
	x, y, height := 0, 0, 0
	for i := range panels {
		p := &panels[i]
		if x+p.Width > columns {
			x, y, height = 0, y+height, 0
		}
		p.ID, p.X, p.Y = i+1, x, y
		x, height = x+p.Width, max(height, p.Height)
		for j := range p.Queries {
			p.Queries[j].RefID = string(rune('A' + j))
		}
	}
}

// quote writes a JSON string.
func quote(s string) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return strings.TrimSpace(b.String()), err
}
