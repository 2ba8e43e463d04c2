C:\k\kubelet.exe --kubeconfig=C:\k\config --config=C:\k\kubelet.yaml --hostname-override=win01
C:\k\kube-proxy.exe --kubeconfig=C:\k\config --proxy-mode=kernelspace --hostname-override=web01 # here
