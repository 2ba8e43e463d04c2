# profile: v1.5
$env:CONTAINER_NETWORK = "transparent"
c:\k\kubelet.exe --hostname-override=win01 --kubeconfig=c:\k\config
