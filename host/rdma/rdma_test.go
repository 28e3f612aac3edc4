package rdma

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/inventory/catalog"
)

func eth0() *fabric.NIC {
	return &fabric.NIC{
		Name: "eth0", RDMA: "mlx5_0", Model: catalog.Builtin().ByNIC("ConnectX-6"), RoCE: 2, TOS: 106, PFC: qos.Priorities(3, 4),
		DCQCN: true, CNP: "cnp", CNPDSCP: 48, CNPPriority: 6,
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	want, findings := Write("gpu1", eth0())
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	ecn := "/sys/class/net/eth0/ecn/"
	got := Read("gpu1", eth0(), map[string]string{
		"eth0/roce-mode": "RoCE v2\n", "eth0/roce-tos": "106\n",
		"eth0/dcqcn": ecn + "roce_np/enable/3:1\n" + ecn + "roce_rp/enable/3:1\n" + ecn + "roce_np/enable/4:1\n" + ecn + "roce_rp/enable/4:1\n" +
			ecn + "roce_np/cnp_dscp:48\n" + ecn + "roce_np/cnp_802p_prio:6\n",
	})
	want.Sort()
	got.Sort()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestPacketsAreMarkedLastAndUnmarkedFirst(t *testing.T) {
	doc, _ := Write("gpu1", eth0())
	var send, undo []plan.Delta
	for _, l := range doc {
		switch l.Path[2] {
		case "mode", "tos":
			send, undo = append(send, plan.Delta{Leaf: l, Action: plan.Create}), append(undo, plan.Delta{Leaf: l, Action: plan.Delete})
		case "roce_np/cnp_dscp":
			send, undo = append(send, plan.Delta{Leaf: l, Action: plan.Update}), append(undo, plan.Delta{Leaf: l, Action: plan.Update})
		}
	}
	dir := "/sys/kernel/config/rdma_cm/mlx5_0"
	cnp := plan.Message{Op: plan.Write, Path: "/sys/class/net/eth0/ecn/roce_np/cnp_dscp", Body: "48"}
	want := []plan.Message{
		cnp,
		{Op: plan.Run, Body: "mkdir -p " + dir},
		{Op: plan.Write, Path: dir + "/ports/1/default_roce_mode", Body: "RoCE v2"},
		{Op: plan.Write, Path: dir + "/ports/1/default_roce_tos", Body: "106"},
	}
	if diff := cmp.Diff(want, Messages(eth0(), send, false)); diff != "" {
		t.Errorf("send (-want +got):\n%s", diff)
	}
	want = []plan.Message{
		{Op: plan.Write, Path: dir + "/ports/1/default_roce_tos", Body: "0"}, // the kernel keeps it when the directory goes
		{Op: plan.Run, Body: "rmdir " + dir},
		cnp,
	}
	if diff := cmp.Diff(want, Messages(eth0(), undo, true)); diff != "" {
		t.Errorf("undo (-want +got):\n%s", diff)
	}
}

func TestModulesAreUnloadedInTheOppositeOrder(t *testing.T) {
	h := &fabric.Host{Modules: []fabric.Module{{Name: "rdma-cm"}, {Name: "rdma_ucm"}}}
	var deltas []plan.Delta
	for _, l := range WriteModules(h) {
		deltas = append(deltas, plan.Delta{Leaf: l, Action: plan.Delete})
	}
	got := ModuleMessages(deltas)
	want := []plan.Message{{Op: plan.Run, Body: "modprobe -r rdma_ucm"}, {Op: plan.Run, Body: "modprobe -r rdma_cm"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if loaded := ReadModules(h, "rdma_cm 1 0 - Live 0\nrdma_ucmx 1 0 - Live 0\n"); len(loaded) != 1 || loaded[0].Path[1] != "rdma_cm" {
		t.Errorf("got %v, want rdma_cm alone", loaded)
	}
}

func TestAModuleIsReadByTheNameThatTheKernelListsItBy(t *testing.T) {
	h := &fabric.Host{Modules: []fabric.Module{{Name: "xprtrdma"}, {Name: "svcrdma"}, {Name: "ib-umad"}}}
	want := WriteModules(h)
	got := ReadModules(h, "rpcrdma 401408 0 - Live 0x0\nib_umad 1 0 - Live 0x0\n")
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 2 {
		t.Errorf("two aliases of one module are one leaf, and it is loaded (-want +got):\n%s", diff)
	}
	if got := ReadModules(h, "ib_umad 1 0 - Live 0x0\n"); len(got) != 1 {
		t.Errorf("got %v, want ib_umad alone", got)
	}
	if got, want := ModuleMessages([]plan.Delta{{Leaf: want[0], Action: plan.Create}}), "modprobe rpcrdma"; len(got) != 1 || got[0].Body != want {
		t.Errorf("got %v, want %q", got, want)
	}
}
