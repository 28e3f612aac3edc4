package catalog

import "slices"

// The sources of the rows below.
const (
	mlx5Source  = "Mellanox/mlnx-tools, sbin/cma_roce_mode: -m 1|2"
	bnxtSource  = "Broadcom bnxt_re readme: RoCE v2 only since 219.0"
	irdmaSource = "Linux commit e523af4ee560: devlink enable_roce; the versions are not named there"
	rxeSource   = "measured on Linux 6.1: rxe refuses IB/RoCE v1"
)

// nics are the models. RoCE is empty where no source names the versions.
var nics = []NIC{
	{Name: "ConnectX-4", RoCE: []int{1, 2}, Source: mlx5Source},
	{Name: "ConnectX-5", RoCE: []int{1, 2}, Source: mlx5Source},
	{Name: "ConnectX-6", RoCE: []int{1, 2}, Source: mlx5Source},
	{Name: "ConnectX-7", RoCE: []int{1, 2}, Source: mlx5Source},
	{Name: "bnxt", RoCE: []int{2}, Source: bnxtSource},
	{Name: "E800", Source: irdmaSource},
	{Name: "rxe", RoCE: []int{2}, Source: rxeSource},
}

// ByNIC is the row of a NIC model; nil where it is not in the catalog.
func ByNIC(name string) *NIC {
	for _, row := range nics {
		if row.Name == name {
			row.RoCE = slices.Clone(row.RoCE)
			return &row
		}
	}
	return nil
}

// NICs are the names of all NIC models in the catalog, for suggestions.
func NICs() []string {
	var names []string
	for _, row := range nics {
		names = append(names, row.Name)
	}
	return names
}
