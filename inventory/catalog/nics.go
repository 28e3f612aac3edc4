package catalog

import "slices"

// The sources of the rows below.
const (
	mlx5Source  = "Mellanox/mlnx-tools, sbin/cma_roce_mode: -m 1|2; the generation is the number in the name; receive headroom: Linux, drivers/net/ethernet/mellanox/mlx5/core/en/port_buffer.c"
	bnxtSource  = "Broadcom bnxt_re readme: RoCE v2 only since 219.0"
	irdmaSource = "Linux, drivers/infiniband/hw/irdma/verbs.c, irdma_roce_port_immutable: RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP alone, which is v2"
	rxeSource   = "measured on Linux 6.1: rxe refuses IB/RoCE v1"
)

// nics are the models. RoCE is empty where no source names the versions; no source that was read names a lowest firmware.
var nics = []NIC{
	{Name: "ConnectX-4", RoCE: []int{1, 2}, Generation: 4, Receive: true, Source: mlx5Source},
	{Name: "ConnectX-5", RoCE: []int{1, 2}, Generation: 5, Receive: true, Source: mlx5Source},
	{Name: "ConnectX-6", RoCE: []int{1, 2}, Generation: 6, Receive: true, Source: mlx5Source},
	{Name: "ConnectX-7", RoCE: []int{1, 2}, Generation: 7, Receive: true, Source: mlx5Source},
	{Name: "bnxt", RoCE: []int{2}, Source: bnxtSource},
	{Name: "E800", RoCE: []int{2}, Source: irdmaSource},
	{Name: "rxe", RoCE: []int{2}, Source: rxeSource},
}

// ByNIC is the row of a NIC model; nil where it is not in the catalog. The row is the caller's.
func (c *Catalog) ByNIC(name string) *NIC {
	named := func(r NIC) bool { return r.Name == name }
	var row NIC
	ok := false
	if c != nil {
		row, ok = find(c.nics, named)
	}
	if !ok {
		row, ok = find(nics, named)
	}
	if !ok {
		return nil
	}
	row.RoCE = slices.Clone(row.RoCE)
	return &row
}

// NICs are the names of all NIC models in the catalog, for suggestions.
func (c *Catalog) NICs() []string {
	var names []string
	for _, row := range nics {
		names = append(names, row.Name)
	}
	if c != nil {
		for _, row := range c.nics {
			if !slices.Contains(names, row.Name) {
				names = append(names, row.Name)
			}
		}
	}
	return names
}
