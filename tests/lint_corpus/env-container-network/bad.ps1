# profile: v1.9
$env:CONTAINER_NETWORK = "l2bridge"
c:\k\kubelet.exe --hostname-override=win01 --network-plugin=cni --kubeconfig=c:\k\config # here
