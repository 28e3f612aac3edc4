package control

import (
	"github.com/weirfabric/weir/telemetry/dashboards"
	"github.com/weirfabric/weir/templates"
)

// Dashboards are the files that show and alert on the metrics of a watch: for Grafana, Prometheus and Alertmanager.
func Dashboards() ([]dashboards.File, error) { return dashboards.Files(templates.FS) }
