# profile: v1.20
# Starts kube-proxy on a Windows node.
c:\flannel\flanneld.exe --kubeconfig-file=c:\k\config --ip-masq=1 --kube-subnet-mgr=1 # here
