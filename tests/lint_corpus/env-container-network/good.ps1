# profile: v1.9
c:\k\kubelet.exe --hostname-override=win01 --network-plugin=cni --kubeconfig=c:\k\config
