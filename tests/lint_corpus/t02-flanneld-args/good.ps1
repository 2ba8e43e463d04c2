# profile: v1.20
# Starts kube-proxy on a Windows node.
$env:NODE_NAME = "win01"
c:\flannel\flanneld.exe --kubeconfig-file=c:\k\config --iface=10.0.0.11 --ip-masq=1 --kube-subnet-mgr=1
